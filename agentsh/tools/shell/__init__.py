"""COMMANDS: one shell a call, what it prints, how it and its children end, the sandbox.

Must not know: whether a command may run (approval/).
Read first: bash.py, process.py, groups.py.
"""
