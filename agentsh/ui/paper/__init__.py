"""WHAT IS PRINTED: the transcript as it streams, cards, Markdown, the shelf of what was folded.

Must not know: keys, sessions.
Read first: transcript.py, render.py, painter.py.
"""
