"""A paste of several lines that no marks enclose, told from typing.

Terminals without bracketed paste send a paste as if it had been typed. What tells it apart is that
it comes at once: several Enters with text after the first, or one within more text than a hand
types ahead, or in many quick pieces. Such a run is one paste, and so is what follows it closely.
One Enter that was typed ahead, while the program was busy, is an Enter; in a read that held more it
and what follows it wait for the pause after them, or for what makes them a burst. A key that comes
by itself passes at once. Read next: terminal_input.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from agentsh.ui.input.sequences import Pasted, Piece, Typed

NEAR = 1.0
"""Seconds after a burst in which more lines are a part of it."""
FASTEST_TYPING = 0.015
"""Seconds between two reads that no hand is responsible for."""
MANY_READS = 4
TYPED_AHEAD = 32
"""Characters round an Enter that may have been typed ahead."""
_ENTER = Typed("\r")


class Bursts:
    """Tokens → the same tokens, but a burst is a paste."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._read = self._ended = clock() - NEAR
        self._collected: list[str] | None = None
        self._held: list[Piece] = []
        self._reads = self._size = self._lines = 0

    def feed(self, tokens: list[Piece]) -> list[Piece]:
        """Of one read."""
        if not tokens:
            return []
        now = self._clock()
        is_quick, self._read = now - self._read < FASTEST_TYPING, now
        is_alone = len(tokens) == 1 and not is_quick
        if is_alone or not (is_quick or self._held):
            self._reads = self._size = self._lines = 0
        self._reads += 1
        self._size += len(tokens)
        self._lines += tokens.count(_ENTER)
        if self._collected is None and now - self._ended < NEAR and len(tokens) > 1:
            self._collected = [] if all(is_text(token) for token in tokens) else None
        held, self._held = self._held, []
        if is_alone and self._collected is None:
            return held + tokens
        return self._sort(held + tokens)

    def flush(self) -> list[Piece]:
        """A pause."""
        given, self._held = self._held, []
        return given + self._close()

    # ---- inside ---------------------------------------------------------------------------------

    def _sort(self, tokens: list[Piece]) -> list[Piece]:
        given: list[Piece] = []
        start = 0
        is_typed = False  # no paste has keys in it: what comes after one was typed ahead
        while start < len(tokens):
            end = start
            while end < len(tokens) and is_text(tokens[end]):
                end += 1
            run = [token for token in tokens[start:end] if isinstance(token, Typed)]
            if run and (self._collected is not None or (not is_typed and self._is_burst(run))):
                self._collected = [*(self._collected or []), *(token.text for token in run)]
            elif end == len(tokens) and _ENTER in run:
                first = run.index(_ENTER)
                given += run[:first]
                self._held += run[first:]
            else:
                given += run
            if end < len(tokens):  # a key: whatever was pasted came before it
                given += [*self._close(), tokens[end]]
                is_typed = True
            start = end + 1
        return given

    def _is_burst(self, run: list[Typed]) -> bool:
        text = "".join(token.text for token in run)
        if not text.rstrip("\r").count("\r"):
            return False
        is_more_than_typed = self._lines > 1 or self._size > TYPED_AHEAD
        return is_more_than_typed or self._reads >= MANY_READS

    def _close(self) -> list[Piece]:
        if self._collected is None:
            return []
        text, self._collected = "".join(self._collected), None
        self._ended = self._clock()
        return [Pasted(text)]


def is_text(token: Piece) -> bool:
    """Something that a paste is made of."""
    if not isinstance(token, Typed):
        return False
    return token.text in "\r\n\t" or not ("\x7f" <= token.text <= "\x9f" or token.text < " ")
