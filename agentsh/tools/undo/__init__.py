"""STATES OF THE WORKING FOLDER: recorded in a shadow store, compared, brought back.

Must not know: sessions, turns.
Read first: checkpoint.py, shadow.py, undo.py, checkpointer.py.
"""
