"""WHAT MAY BE DONE on the user's machine, and what must be asked first.

Must not know: sessions, providers, terminals.
Read first: base.py (the seam), toolset.py, tools/approval/policy.py; then one tool a file.
"""
