"""TOOLS OF MCP SERVERS: which servers there are, what they offer, and how a call gets there.

Must not know: agents, sessions, settings files, the terminal. Only `client.py` and what it imports
load the official package. Read first: docs/adr/0036, definition.py, listing.py, host.py, tool.py.
"""
