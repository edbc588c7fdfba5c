"""AN EDITOR'S SESSIONS PUT TOGETHER: a folder or a session's id in, its host out.

Must not know: the protocol, which is remote/acp's. Read first: hosting.py, docs/editors.md.
"""
