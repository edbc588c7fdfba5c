"""RPC: a program drives over JSON lines, in the words of Pi 1.6 (docs/rpc.md).

Must not know: how an agent is made, settings, stores; it is handed a host.
Read first: commands.py, records.py, events.py, dispatcher.py, serving.py.
"""
