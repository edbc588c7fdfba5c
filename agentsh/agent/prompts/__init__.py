"""WHAT BECOMES OF A PROMPT before it is a message, and what a finished turn leads to.

Must not know: where skills, templates and hooks come from (they are handed in).
Read first: expansion.py, around.py.
"""
