"""WHAT IS STORED: bytes ↔ entries ↔ tree, one append-only JSONL file a session.

Must not know: providers, tools, terminals, argv, environment variables.
Read first: session/format/entries.py (the vocabulary), session/format/codec.py,
session/file/log.py, session/file/tree.py, session/file/session.py.
"""
