"""WHAT IS IN FORCE, WHAT IS WAITED FOR: one value, and the words that are made of it.

Knows events and figures; must not know the chat, a terminal or the agent. Read first: chatstate.py.
"""
