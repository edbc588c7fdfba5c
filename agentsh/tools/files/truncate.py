"""Cut a text to what a result may hold: 2000 lines, 51,200 bytes of UTF-8. Pure.

The cut lies between lines. A line that is longer than the whole limit is clipped to the room that
is left, at a character, and never dropped. Lines end at "\\n" only: what else looks like a
separator is part of its line. It makes no notes and knows no tool: a Cut says what there was, the
tool says how to go on. Theorems: tests/tools/files/test_truncate.py.
"""

from __future__ import annotations

from msgspec import Struct

MAX_LINES = 2000
MAX_BYTES = 51200
MIN_CLIP = 200
"""A clipped line of less than this tells nothing; then the cut goes before it."""


class Truncated(Struct, frozen=True):
    """The part that is kept: lines first..first+lines-1 of `total`, counted from 1."""

    text: str
    first: int
    lines: int
    total: int
    total_bytes: int
    clipped: int | None = None
    """Bytes that are shown of the one line that is too long by itself (head: of the last shown
    line, its beginning; tail: of the first shown, its end)."""

    @property
    def is_whole(self) -> bool:
        return self.lines == self.total and self.clipped is None


def head(text: str, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Truncated:
    """Keep the beginning."""
    lines = split_lines(text)
    lines_kept: list[str] = []
    room = max_bytes
    clipped: int | None = None
    for line in lines[:max_lines]:
        size = utf8_size(line)
        if size <= room:
            lines_kept.append(line)
            room -= size
            continue
        if size > max_bytes and (room >= MIN_CLIP or not lines_kept):
            part = clip_start(line, room)
            clipped = utf8_size(part)
            lines_kept.append(part)
        break
    return Truncated("".join(lines_kept), 1, len(lines_kept), len(lines), utf8_size(text), clipped)


def tail(text: str, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Truncated:
    """Keep the end."""
    lines = split_lines(text)
    lines_kept: list[str] = []
    room = max_bytes
    clipped: int | None = None
    for line in reversed(lines[-max_lines:] if max_lines else []):
        size = utf8_size(line)
        if size <= room:
            lines_kept.append(line)
            room -= size
            continue
        if size > max_bytes and (room >= MIN_CLIP or not lines_kept):
            part = clip_end(line, room)
            clipped = utf8_size(part)
            lines_kept.append(part)
        break
    lines_kept.reverse()
    first = len(lines) - len(lines_kept) + 1
    return Truncated(
        "".join(lines_kept), first, len(lines_kept), len(lines), utf8_size(text), clipped
    )


def split_lines(text: str) -> list[str]:
    """The lines with their "\\n"; the last one may have none. "" has no line."""
    if not text:
        return []
    lines = text.split("\n")
    last = lines.pop()
    result = [line + "\n" for line in lines]
    if last:
        result.append(last)
    return result


def utf8_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def clip_start(line: str, size: int) -> str:
    """The longest beginning of at most so many bytes."""
    return line.encode("utf-8", "replace")[:size].decode("utf-8", "ignore")


def clip_end(line: str, size: int) -> str:
    """The longest end of at most so many bytes."""
    data = line.encode("utf-8", "replace")
    return data[max(0, len(data) - size) :].decode("utf-8", "ignore")


def bytes_words(size: int) -> str:
    """A size for a person: 999 bytes, 50.0 KB, 1.5 MB."""
    if size < 1000:
        return f"{size} bytes"
    for unit in ("KB", "MB", "GB"):
        size_in_unit = size / (1024 if unit == "KB" else 1024**2 if unit == "MB" else 1024**3)
        if size_in_unit < 1000 or unit == "GB":
            return f"{size_in_unit:.1f} {unit}"
    raise AssertionError(size)
