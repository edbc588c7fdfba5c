"""Figures side by side, printed and never asserted: how fast, against which floor, against whom.

Read first: README.md, measure.py; then one row of figures a file.
"""
