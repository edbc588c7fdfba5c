"""HOW AN EXPLORATION IS PUT TOGETHER: begun, gone on with, one branch's agent, a pick, tidying up.

Must not know: what is printed.
Read first: starting.py, then branching.py, picking.py, tidying.py.
"""
