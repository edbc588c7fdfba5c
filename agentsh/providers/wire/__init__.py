"""BYTES TO AN ENDPOINT AND BACK: HTTP, TLS, proxies, event streams, failures, repeats.

Must not know: what a body means.
Read first: wire.py, sockets.py, sse.py, failures.py, retry.py.
"""
