"""A SCRIPT IN PYTHON: `from agentsh import …`: values, functions as tools, the talk itself.

Must not know: settings, stores, who made the host; it prints nothing and reads no environment.
Read first: docs/python.md, values.py, talk.py, then cli/assembly/scripting/session.py.
"""
