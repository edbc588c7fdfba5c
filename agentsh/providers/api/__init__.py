"""WIRE FORMS: request → body of an API, its stream → events and an answer. Sans-IO.

Must not know: sockets, time, files.
Read first: chat.py, assemble.py, calls.py, dialects.py.
"""
