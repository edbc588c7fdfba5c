"""WHAT IS KNOWN OF AN EXPLORATION: its log, and what that comes to.

Must not know: a runner, a workspace, a screen. Only folder.py touches the disk.
Read first: facts.py, then state.py, outcome.py, folder.py, values.py.
"""
