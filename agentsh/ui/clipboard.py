"""The clipboard through the terminal (OSC 52): the one sequence of its kind, and only when asked.

Foreign text goes in as base64, so nothing of it can end the sequence.
"""

from __future__ import annotations

from base64 import b64encode

LONGEST = 74_000
"""What terminals commonly take."""


def osc52(text: str) -> str:
    data = text.encode("utf-8", "replace")[:LONGEST]
    return f"\x1b]52;c;{b64encode(data).decode()}\x07"
