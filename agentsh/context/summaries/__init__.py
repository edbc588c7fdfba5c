"""SUMMARIES: what to cut, what to ask a summariser, and the entry that comes of it. Pure plans.

Must not know: who is asked; any IO.
Read first: compaction.py, branching.py, transcript.py.
"""
