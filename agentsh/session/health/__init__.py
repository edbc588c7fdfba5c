"""IS A FILE SOUND: what a crash left open, what closes it, and what verification finds.

Must not know: stores and lists; who asks.
Read first: repair.py, invariants.py, verify.py.
"""
