"""WHAT IS SEEN: the terminal. The only home of rich and prompt_toolkit.

Gets an Agent handed in; never builds one, never reads the environment.
Read first: terminal.py, ui/text/plain.py; then ui/chat/repl.py.
"""
