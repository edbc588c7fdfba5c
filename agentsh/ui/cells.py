"""Text as a terminal counts it, and as a person does: cells, lines by them, grapheme clusters.

Pure, without rich. Read next: reader.py, navigator.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from wcwidth import grapheme_boundary_before, iter_graphemes, wcwidth

_FIRST_COMBINING = "\u0300"
_FARTHEST = 4096
"""Code points that are looked at on each side: a line may be a whole file."""

_HANG = re.compile(r" *[-+ ] *\d+ | *(?:[-+*•›?] +|\d{1,3}[.)] +)|[-+](?=\S)| +")
_CODES = re.compile("(\x1b\\[[0-9;]*m)")


LONGEST = 10_000
"""Code points of a line that is broken between words; a longer one, which nobody typed, is broken
at the edge."""

_SHORT = 256
"""Code points of a text whose width is remembered."""


def width_of(text: str) -> int:
    """As prompt_toolkit counts them, which places what is drawn; control characters have none."""
    if text.isascii() and text.isprintable():
        return len(text)
    return _remembered(text) if len(text) <= _SHORT else _counted(text)


def _counted(text: str) -> int:
    return sum(_of_one(char) for char in text)


_remembered = lru_cache(maxsize=4096)(_counted)


@lru_cache(maxsize=8192)
def _of_one(char: str) -> int:
    return max(0, wcwidth(char))


def cut(text: str, width: int) -> str:
    """As much of a line as fits."""
    if len(text) * 2 <= width or width_of(text) <= width:
        return text
    taken = used = 0
    for char in text:
        used += width_of(char)
        if used > width:
            break
        taken += 1
    return text[:taken]


def cut_painted(text: str, width: int) -> str:
    """The same of a row with codes of colours in it, which take no cells and all stay."""
    if "\x1b" not in text:
        return cut(text, width)
    pieces: list[str] = []
    for number, piece in enumerate(_CODES.split(text)):
        if number % 2 == 0:
            piece = cut(piece, width)
            width -= width_of(piece)
        pieces.append(piece)
    return "".join(pieces)


def painted_width(text: str) -> int:
    """Cells of a row with codes of colours in it."""
    return width_of(_CODES.sub("", text) if "\x1b" in text else text)


def fitting(ways: Sequence[str], width: int) -> str:
    """The first way to say it that fits; of the last as much as does."""
    return next((words for words in ways if width_of(words) <= width), cut(ways[-1], width))


def breaks(text: str, width: int, indent: int = 0) -> list[tuple[int, int]]:
    """Where a line is broken so that each piece fits: start and end of each.

    Broken at a blank, which belongs to no piece; within a word only where it is longer than a row.
    All pieces but the first have `indent` cells less.
    """
    lines: list[tuple[int, int]] = []
    start, size = 0, len(text)
    narrow = text.isascii()
    room = max(2, width)
    while True:
        piece = size - start
        if narrow or piece * 2 <= room:
            end = start + min(room, piece)
        else:  # a line may be a whole file
            end = start + max(1, len(cut(text[start : start + 4 * room], room)))
            whole = border(text, end, back=True)
            end = whole if whole > start else end
        if end >= size:
            lines.append((start, size))
            return lines
        stop = _last_blank(text, start, end, room)
        lines.append((start, stop))
        start = stop + (text[stop] == " ")
        if start == size:
            return lines
        room = max(2, width - indent)


def rows_of(text: str, first: int, other: int) -> list[tuple[int, int]]:
    """Start and end of each row of a line; the blank at an end is of neither row. Pure."""
    if width_of(text) <= first:
        return [(0, len(text))]
    if len(text) <= LONGEST and min(first, other) >= 2:
        return breaks(text, first, first - other)
    rows, start, used, room = [], 0, 0, first
    for index, char in enumerate(text):
        width = width_of(char)
        if used + width > room:
            rows.append((start, index))
            start, used, room = index, 0, other
        used += width
    return [*rows, (start, len(text))]


def _last_blank(text: str, start: int, end: int, room: int) -> int:
    """The blank to break at, or `end` where the word that does not fit must be broken itself."""
    if text[end] == " ":
        return end
    blank = text.rfind(" ", start, end)
    if blank <= start or not text[start:blank].strip(" "):
        return end
    if blank - start > (end - start) // 2:
        return blank
    word = text[blank + 1 : blank + 2 + room].partition(" ")[0]
    return blank if width_of(word) <= room else end


def hang_of(line: str) -> int:
    """Where a line's own text begins: behind blanks, a difference's sign and number, a mark."""
    match = _HANG.match(line)
    return width_of(match.group()) if match is not None else 0


def wrapped(text: str, width: int, indent: int = 0) -> list[str]:
    """A line in pieces that fit, broken at blanks; all but the first stand `indent` cells in."""
    text = text.expandtabs(4)
    if len(text) * 2 <= width or width_of(text) <= width:
        return [text]
    indent = min(indent, width // 2)
    margin = " " * indent
    return [
        (margin if n else "") + text[start:stop].rstrip(" ")
        for n, (start, stop) in enumerate(breaks(text, width, indent))
    ]


def border(text: str, index: int, *, back: bool) -> int:
    """`index` if it is between two grapheme clusters, else the border before or after it.

    Clusters are those of Unicode Standard Annex 29: a letter with its accents, a flag, joined
    emoji. An index outside of the text is that of its end. Of a cluster of more than 4096 code
    points the part around `index` counts as one.
    """
    if not 0 < index < len(text):
        return max(0, min(index, len(text)))
    beside = text[index - 1 : index + 1]
    if max(beside) < _FIRST_COMBINING and beside != "\r\n":
        return index
    low = max(text.rfind("\n", 0, index) + 1, index - _FARTHEST)
    start = low + grapheme_boundary_before(text[low : index + 1], index - low + 1)
    if start == index or back:
        return start
    return start + len(next(iter_graphemes(text[start : index + _FARTHEST])))


def without_last(text: str) -> str:
    """The text without its last grapheme cluster: what Backspace leaves."""
    return text[: border(text, len(text) - 1, back=True)]
