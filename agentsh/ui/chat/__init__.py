"""THE LIVING CHAT: the loop at the terminal, what a line does, what a key means, what stands below.

Must not know: how an agent is put together; it is handed one.
Read first: repl.py, actions.py, keyboard.py, bottom.py.
"""
