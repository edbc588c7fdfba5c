"""PUTTING TOGETHER: configuration and session in, a ready agent with its tools and host out.

Must not know: how anything is shown.
Read first: wiring.py, tools.py, driving.py, host.py.
"""
