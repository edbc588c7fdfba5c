"""A SCRIPT'S SESSION PUT TOGETHER: arguments in, `agentsh.Session` out.

Must not know: what a script does with it. It prints nothing: what there is to tell is told with the
session. Read first: session.py, hosting.py, docs/python.md.
"""
