"""WHETHER A CALL MAY BE DONE: policy, rules, and how far a command line is understood. Pure.

Must not know: who is asked and what was answered (agent/).
Read first: policy.py, rules.py, shellparse.py, dangers.py.
"""
