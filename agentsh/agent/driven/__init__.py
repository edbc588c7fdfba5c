"""WHAT A DRIVER IS HANDED: an agent and the program around it, as protocols without code.

Must not know: who drives (a screen, a protocol, a program), how sessions are stored.
Read first: host.py.
"""
