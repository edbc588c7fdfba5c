"""How an editor drives agentsh: the Agent Client Protocol, version 1 (docs/adr/0040).

One process, many sessions. It knows no screen, makes no session and asks no endpoint: it is handed
a program that does (program.py). The package `acp` says how each message is spelled, and lives
here alone. Read jsonrpc.py, messages.py, editorsession.py, then remote/acp/shown/updates.py.
"""
