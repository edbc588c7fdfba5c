"""What an editor is shown of a session: of a turn as it happens, of a session that was.

Must not know: requests, threads of a session, who asks. Read first: calls.py, updates.py.
"""
