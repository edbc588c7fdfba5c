"""WHAT IS CHOSEN: questions of approval, pickers, a reader, going back with files.

Must not know: how an answer is carried out.
Read first: approval.py, picker.py.
"""
