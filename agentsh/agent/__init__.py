"""WHAT HAPPENS NEXT: turns, steps, order of tool calls, abort, retries, compaction.

Two arrows leave it and nothing else: events out (events.py), entries down (recorder.py).
Must not know: terminals, argv, environment variables.
Read first: events.py, agent/turn/loop.py, agent.py.
"""
