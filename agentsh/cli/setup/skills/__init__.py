"""WHICH SKILLS AND TEMPLATES THERE ARE: where they lie, and what their heads say.

Must not know: sessions, how they are shown or sent.
Read first: expanding.py, finding.py, heads.py, places.py.
"""
