"""HOW A SESSION READS: entries → items of a tree, views, words of one line.

Must not know: who reads, a person at a screen or a program. Neither paints nor prints.
Read first: describe.py, treeitem.py, sessionviews.py.
"""
