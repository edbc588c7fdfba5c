"""WHAT IS SENT: pure functions from a branch to what the model is to see. No IO at all.

Must not know: files, sockets, tools' implementations, terminals.
Read first: projection.py, then outbound.py, then context/summaries/compaction.py.
"""
