"""WHAT STANDS IN MANY SESSIONS: queries, hits, the full-text index, and charges added up.

Must not know: how a result is shown.
Read first: query.py, searchable.py, search.py; costs.py for charges.
"""
