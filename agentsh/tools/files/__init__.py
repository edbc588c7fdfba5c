"""FILES OF THE USER: read, write, edit, and how a path leads to a file that may be touched.

Must not know: processes, search engines, policies.
Read first: paths.py, anchored.py, atomic.py, then the tool in question.
"""
