"""WHAT IS STORED: bytes ↔ entries ↔ tree, one append-only JSONL file a session.

Must not know: providers, tools, terminals, argv, environment variables.
Read first: entries.py (the vocabulary), then codec.py, log.py, tree.py, session.py.
"""
