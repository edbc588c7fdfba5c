"""ONE SESSION FILE: opened, read from its end, appended to at barriers, seen as a tree.

Must not know: other sessions, stores, search, other programs' formats.
Read first: session.py, then log.py, writing.py, reading.py, tail.py, tree.py.
"""
