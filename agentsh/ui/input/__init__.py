"""WHAT A PERSON TYPES: keys, the draft, completion, history, clipboard, attachments.

Must not know: sessions, agents.
Read first: sequences.py (bytes → tokens), terminal_input.py (→ keys), editor.py, keymap.py.
"""
