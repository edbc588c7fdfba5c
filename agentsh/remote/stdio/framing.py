"""Bytes ↔ records: one JSON object a line, ended by LF, at most 64 MiB. Pure.

A byte order mark at the start and a CR before the LF are dropped, an empty line is nothing; U+2028
and its like are text. A line that is longer is one failure and is skipped to its end, wherever its
pieces come in.
Read next: streams.py.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from typing import Final

from msgspec import Struct

LONGEST_RECORD: Final = 64 << 20


class TooLong(Struct, frozen=True):
    """A line that was not read."""


class RecordSplitter:
    """Pieces of any size in, whole lines out."""

    def __init__(self, most: int = LONGEST_RECORD) -> None:
        self._most = most
        self._pieces: list[bytes] = []
        self._size = 0
        self._is_skipping = False
        self._is_first = True

    def feed(self, data: bytes) -> list[bytes | TooLong]:
        """The lines that are whole now."""
        lines: list[bytes | TooLong] = []
        *whole, tail = data.split(b"\n")
        for piece in whole:
            lines += self._add(piece)
            lines += self._line()
        return [*lines, *self._add(tail)]

    def end(self) -> list[bytes | TooLong]:
        """The last line, where nothing ended it."""
        return self._line()

    def _add(self, piece: bytes) -> list[bytes | TooLong]:
        if self._is_skipping or not piece:
            return []
        self._size += len(piece)
        if self._size <= self._most:
            self._pieces.append(piece)
            return []
        self._is_skipping = True
        self._pieces.clear()
        return [TooLong()]

    def _line(self) -> list[bytes | TooLong]:
        line = b"".join(self._pieces).removesuffix(b"\r")
        if self._is_first and line:
            self._is_first, line = False, line.removeprefix(BOM_UTF8)
        self._pieces.clear()
        self._size, self._is_skipping = 0, False
        return [line] if line else []
