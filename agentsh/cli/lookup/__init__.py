"""WHICH SESSION, WHICH ENTRY: the words of a command line and what they mean.

Must not know: how a turn runs.
Read first: finding.py, choosing.py.
"""
