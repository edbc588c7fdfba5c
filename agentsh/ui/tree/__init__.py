"""THE TREE ON THE SCREEN: outline, cursor, navigator, and the tree as text.

Must not know: how a move is made.
Read first: outline.py, treeview.py, navigator.py.
"""
