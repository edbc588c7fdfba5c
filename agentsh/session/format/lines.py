"""Lines of a log, forwards and backwards, read in blocks. Splits on LF and nothing else.

`str.splitlines` would also break at U+2028, U+0085 and others, which stand raw inside JSON strings
(R67). A line is handed out without its LF; a CR before it stays (JSON takes it as white space).
Nothing is kept: memory is a block and the longest line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from msgspec import Struct

Read: TypeAlias = Callable[[int, int], bytes]
"""The bytes from one offset to another."""

_FORWARD_BLOCK = 1 << 20
_FIRST_BLOCK = 1 << 16
_LARGEST_BLOCK = 1 << 22


class LineSpan(Struct, frozen=True, gc=False):
    start: int
    end: int
    """Without the LF."""
    data: bytes
    is_ended: bool
    """False: the LF is missing, so it is the last line of the file."""


def forward_lines(read: Read, start: int, size: int) -> Iterator[LineSpan]:
    """Every line from `start` (the beginning of a line) to `size`."""
    carried = b""
    base = start  # where `carried` begins
    block = _FORWARD_BLOCK
    while base + len(carried) < size:
        offset = base + len(carried)
        more = read(offset, min(offset + block, size))
        if not more:
            break
        data = carried + more if carried else more
        position = 0
        while (end := data.find(b"\n", position)) >= 0:
            yield LineSpan(base + position, base + end, data[position:end], True)
            position = end + 1
        carried = data[position:]
        base += position
        # a line longer than the block: larger steps, so that joining stays linear
        block = _FORWARD_BLOCK if position else block * 2
    if carried:
        yield LineSpan(base, base + len(carried), carried, False)


def backward_lines(read: Read, size: int, stop: int = 0) -> Iterator[LineSpan]:
    """Every line from the end back to `stop` (the beginning of a line), the last one first."""
    parts: list[bytes] = []  # of the line whose beginning is not seen yet, last part first
    unread_end = size  # all before is unread
    end = size
    is_ended = False
    block = _FIRST_BLOCK
    while unread_end > stop:
        start = max(stop, unread_end - block)
        data = read(start, unread_end)
        right = len(data)
        while (newline := data.rfind(b"\n", 0, right)) >= 0:
            parts.append(data[newline + 1 : right])
            line = b"".join(reversed(parts)) if len(parts) > 1 else parts[0]
            if line or end != size:
                yield LineSpan(start + newline + 1, end, line, is_ended)
            parts = []
            end = start + newline
            is_ended = True
            right = newline
        parts.append(data[:right])
        unread_end = start
        block = min(block * 2, _LARGEST_BLOCK)
    if size > stop:
        line = b"".join(reversed(parts))
        if line or end != size:
            yield LineSpan(stop, end, line, is_ended)


def count_lines(read: Read, end: int) -> int:
    """How many LFs there are before `end`."""
    count = 0
    offset = 0
    while offset < end:
        data = read(offset, min(offset + _LARGEST_BLOCK, end))
        if not data:
            break
        count += data.count(b"\n")
        offset += len(data)
    return count
