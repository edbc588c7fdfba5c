"""STATES OF FILES IN A SESSION: when they are recorded, which one belongs to an entry, going back.

Must not know: how a state is stored (tools/undo).
Read first: checkpoints.py, filestates.py, rewinding.py; differences.py compares two places.
"""
