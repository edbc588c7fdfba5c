"""WHAT IS CONFIGURED: paths, settings, trust, keys, endpoint, context files, streams.

Must not know: sessions.
Read first: paths.py, configuration.py, endpoint.py.
"""
