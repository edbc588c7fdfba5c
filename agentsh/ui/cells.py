"""Text as a terminal counts it: cells, and lines cut or wrapped by them. Pure, without rich.

Read next: reader.py, navigator.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from prompt_toolkit.utils import get_cwidth


def width_of(text: str) -> int:
    return get_cwidth(text)


def cut(text: str, width: int) -> str:
    """As much of a line as fits."""
    if len(text) * 2 <= width or get_cwidth(text) <= width:
        return text
    taken = used = 0
    for char in text:
        used += get_cwidth(char)
        if used > width:
            break
        taken += 1
    return text[:taken]


def fitting(ways: Sequence[str], width: int) -> str:
    """The first way to say it that fits; of the last as much as does."""
    return next((words for words in ways if width_of(words) <= width), cut(ways[-1], width))


def wrapped(text: str, width: int) -> list[str]:
    """A line in pieces that fit, broken at blanks where there are any."""
    text = text.expandtabs(4)
    if len(text) * 2 <= width or get_cwidth(text) <= width:
        return [text]
    pieces: list[str] = []
    room, start = max(2, width), 0
    while start < len(text):
        piece = cut(text[start : start + 4 * room], room)  # a line may be a whole file
        if start + len(piece) < len(text):
            blank = piece.rfind(" ")
            if blank > len(piece) // 2:
                piece = piece[: blank + 1]
        pieces.append(piece.rstrip(" ") or piece)
        start += len(piece)
    return pieces
