"""WHO DRIVES FROM OUTSIDE: events → a protocol, requests → wishes.

Must not know: the ui, settings, stores; it is handed a host and prints nothing but its protocol.
Read first: docs/adr/0039, agent/driven/host.py, remote/values/events.py.
"""
