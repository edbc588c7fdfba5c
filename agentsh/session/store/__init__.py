"""MANY SESSIONS: their folder, what a word means there, lists, archive, trash, catalog.

Must not know: what a search asks for; other programs' formats.
Read first: store.py, naming.py, summary.py, catalog.py.
"""
