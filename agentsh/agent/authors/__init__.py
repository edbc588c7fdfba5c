"""WHO WROTE A LINE: the calls and states on record → an author for each line of a file.

Must not know: how a state is stored (tools/undo), which sessions there are (session/store), words
for people. Read first: calls.py, between.py, tracing.py, why.py.
"""
