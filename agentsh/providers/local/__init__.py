"""A MODEL ON THIS MACHINE: the embedded server, its GGUF file, and who answers when there is none.

Must not know: sessions.
Read first: local.py, llamaserver.py.
"""
