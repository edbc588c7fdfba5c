"""The clipboard through the terminal (OSC 52): the one sequence of its kind, and only when asked.

Foreign text goes in as base64, so nothing of it can end the sequence. Whether the terminal took it,
nobody says; so the words claim no more than what was sent, and name what may be in the way (W32).
Pure.
"""

from __future__ import annotations

from base64 import b64encode

from msgspec import Struct

MOST_COPIED = 74_000
"""Bytes that terminals commonly take."""


class Copied(Struct, frozen=True):
    """What to write, and what to tell the person."""

    sequence: str
    words: str


def copied(text: str, *, tmux: bool) -> Copied:
    """In tmux twice: for its own buffer, and wrapped for the terminal outside of it."""
    data = text.encode("utf-8", "replace")
    taken = data[:MOST_COPIED].decode("utf-8", "ignore").encode()
    sequence = osc52(taken)
    sentence = "copied, where the terminal allows it (OSC 52)"
    if tmux:
        sequence += wrapped_for_tmux(sequence)
        sentence = (
            "copied, where tmux lets it: `set -g set-clipboard on` for its own buffer, "
            "`set -g allow-passthrough on` for the terminal"
        )
    if len(taken) < len(data):
        sentence += f"; only the first {len(taken):,} of {len(data):,} bytes"
    return Copied(sequence, sentence)


def osc52(data: bytes) -> str:
    return f"\x1b]52;c;{b64encode(data).decode()}\x07"


def wrapped_for_tmux(sequence: str) -> str:
    """As tmux hands a sequence through to the terminal it runs in."""
    return f"\x1bPtmux;{sequence.replace(chr(27), chr(27) * 2)}\x1b\\"
