"""WHAT A BRANCH IS GIVEN: a copy of the folder, seen at the folder's own path, and captured.

Must not know: sessions, agents, limits. The person's folder and its .git are only read: no
worktree, ref, lock, stash or object is made there.
Read first: listing.py, then basing.py, private_git.py, view.py, capture.py.
"""
