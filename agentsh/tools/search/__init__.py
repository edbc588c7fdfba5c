"""LOOKING FOR FILES AND LINES: grep, find, ls, over one walk that minds .gitignore.

Must not know: sessions (that is the history tool), approval.
Read first: walking.py, searching.py, grep.py.
"""
