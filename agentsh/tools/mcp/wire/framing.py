"""Bytes of a pipe → lines, each bounded. Pure.

A line ends at "\\n" only; what else looks like a separator is part of it. Nothing grows beyond the
bound, wherever in a line that is noticed. It stands alone because it is tested without a pipe. Read
next: pipes.py.
"""

from __future__ import annotations

from collections.abc import Iterator


class LineTooLongError(Exception):
    """A line has more bytes than are taken; nothing after it can be told apart any more."""


class LineSplitter:
    """Feed it pieces, it gives the lines that are whole."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open = bytearray()

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Raises LineTooLongError."""
        start = 0
        while (end := piece.find(b"\n", start)) >= 0:
            yield self._taken(piece[start:end])
            start = end + 1
        self._grow(piece[start:])

    def _taken(self, end: bytes) -> bytes:
        if not self._open and len(end) <= self._most:
            return end
        self._grow(end)
        line = bytes(self._open)
        self._open = bytearray()
        return line

    def _grow(self, piece: bytes) -> None:
        if len(self._open) + len(piece) > self._most:
            self._open = bytearray()
            raise LineTooLongError
        self._open += piece
