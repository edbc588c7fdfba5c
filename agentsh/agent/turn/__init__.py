"""ONE TURN: steps, requests, attempts, tool calls, records and barriers, queue, budget.

Must not know: the tree as a whole; frontends.
Read first: loop.py, requester.py, execution.py, recorder.py.
"""
