"""WHAT PROGRAMS GET AS JSON: each value of `--json`, of `--output` and of a protocol made once.

Must not know: who asks, how anything is shown to a person. Names in here are public: members are
added, never changed. Read first: events.py, views.py, tree.py.
"""
