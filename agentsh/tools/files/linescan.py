"""Find a run of lines in a file of any size, in one pass with flat memory.

The pass goes on to the end of the file (within `SCAN_LIMIT`) because a result must say how much
there is, and the ledger wants the digest of the whole; what is kept is no more than a result may
hold. Lines end at "\\n". It decodes nothing and words nothing: read.py does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

SCAN_LIMIT = 512 * 1024 * 1024
CHUNK = 1 << 20


class Readable(Protocol):
    """A binary file, or bytes that act as one."""

    def read(self, size: int, /) -> bytes: ...


class Scan(Struct, frozen=True):
    """`data` begins `column` bytes into line `offset`; it may end inside a line.

    `last_line_bytes`: the whole length of the line in which `data` ends, counted from where data
    has it begin. `total_lines` and `sha256` are None where the file goes on beyond the limit.
    """

    data: bytes
    last_line_bytes: int
    total_lines: int | None
    seen_lines: int
    seen_bytes: int
    sha256: str | None


def scan_lines(
    file: Readable,
    *,
    offset: int,
    column: int = 1,
    max_lines: int,
    max_bytes: int,
    pulse: Callable[[], None] = lambda: None,
) -> Scan:
    """Read on from byte `column` of line `offset`, both counted from 1.

    Keeps at most `max_lines` lines and `max_bytes` bytes. `pulse` is called once a piece and may
    raise. No data: the place lies beyond the end of the file, or of the line.
    """
    digest = hashlib.sha256()
    collector = _Collector(offset, column, max_lines, max_bytes)
    newlines = seen = 0
    ends_open = False
    while seen < SCAN_LIMIT and (piece := file.read(CHUNK)):
        pulse()
        digest.update(piece)
        collector.take(piece, newlines)
        newlines += piece.count(b"\n")
        seen += len(piece)
        ends_open = not piece.endswith(b"\n")
    lines = newlines + ends_open
    is_all = seen < SCAN_LIMIT or not file.read(1)
    return Scan(
        data=bytes(collector.data),
        last_line_bytes=collector.last_line_bytes,
        total_lines=lines if is_all else None,
        seen_lines=lines,
        seen_bytes=seen,
        sha256=digest.hexdigest() if is_all else None,
    )


class _Collector:
    """Takes pieces of a file and keeps the wanted lines."""

    def __init__(self, offset: int, column: int, max_lines: int, max_bytes: int) -> None:
        self.data = bytearray()
        self.last_line_bytes = 0
        self._offset = offset
        self._skip = column - 1
        self._lines_left = max_lines
        self._room = max_bytes
        self._started = False
        self._done = False
        self._fresh = True

    def take(self, piece: bytes, newlines_before: int) -> None:
        """`newlines_before`: how many stand in all earlier pieces."""
        if self._done:
            return
        remaining = piece
        if not self._started:
            missing = self._offset - 1 - newlines_before
            if missing > 0:
                if piece.count(b"\n") < missing:
                    return
                remaining = piece.split(b"\n", missing)[missing]
            self._started = True
        while remaining and not self._done:
            remaining = self._take_line(remaining)

    def _take_line(self, remaining: bytes) -> bytes:
        """Take the part of one line that `remaining` begins with; what follows is given back."""
        end = remaining.find(b"\n") + 1
        line, remaining = (remaining[:end], remaining[end:]) if end else (remaining, b"")
        if self._skip:
            skipped = min(self._skip, len(line) - (1 if end else 0))
            self._skip -= skipped
            if end and self._skip:  # the line ends before the column
                self._done = True
                return b""
            line = line[skipped:]
        self.last_line_bytes = len(line) + (0 if self._fresh else self.last_line_bytes)
        self._fresh = bool(end)
        taken = line[: self._room]
        self.data += taken
        self._room -= len(taken)
        if end:
            self._lines_left -= 1
            # a line of which a part was dropped is the last one, and now its length is known
            self._done = self._lines_left <= 0 or len(taken) < len(line) or self._room <= 0
        return remaining
