"""SESSIONS AND TURNS AS TEXT: plain lines, the views of `show`, pacing of replays.

Must not know: full-screen terminals.
Read first: views.py, plain.py, differences.py.
"""
