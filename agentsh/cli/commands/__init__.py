"""ONE COMMAND A FILE: what `agentsh NAME` takes and does: signature, docstring, body.

A body begins with its imports (docs/adr/0005). Must not know: anything of a turn, typer.
Read first: the file with the command's name; marks.py, archive.py, trash.py and leftovers.py are
commands below `sessions`.
"""
