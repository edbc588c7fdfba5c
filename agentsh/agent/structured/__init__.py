"""WHETHER AN ANSWER IS THE JSON VALUE THAT WAS ASKED FOR: reading it, checking it, what is said.

Must not know: turns, requests, sessions, files, who asks.
Read first: answers.py, then validator.py, which alone has fastjsonschema and is loaded when needed.
"""
