"""The editor's lines, broken between words: prompt_toolkit itself breaks at the edge only.

A row is filled with blanks up to the edge, so that the next word begins in the next one. The blank
that a line is broken at is the first of them; where the row is full without it, it is not drawn.
The text stays what it is. Knows nothing of what is edited. Read next: screen.py, cells.py.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Final

from prompt_toolkit.formatted_text.utils import fragment_list_to_text
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.layout.utils import explode_text_fragments

from agentsh.ui.cells import LONGEST, breaks, width_of

INDENT: Final = 2
"""Cells before each row but the first of all, which has the mark."""


class WordWrap(Processor):
    """`mark` stands before the first row of the text."""

    def __init__(self, mark: Callable[[], str]) -> None:
        self._mark = mark

    def apply_transformation(self, given: TransformationInput) -> Transformation:
        text = fragment_list_to_text(given.fragments)
        mark = width_of(self._mark()) if given.lineno == 0 else INDENT
        first, other = given.width - mark, given.width - INDENT
        if len(text) > LONGEST or min(first, other) < 2 or width_of(text) <= first:
            return Transformation(given.fragments)
        edges = _edges(text, first, other)
        chars = explode_text_fragments(given.fragments)
        for stop, more in reversed(edges):
            chars[stop : stop + 1] = [("", " " * more)] if more else []
        places = [stop for stop, _ in edges]
        sums = [0]
        for _, more in edges:
            sums.append(sums[-1] + more - 1)

        def shown_at(index: int) -> int:
            """The blank itself is where the first one is that stands for it."""
            return index + sums[bisect_right(places, index - 1)]

        def meant_by(index: int) -> int:
            return bisect_right(range(len(text) + 1), index, key=shown_at) - 1

        return Transformation(chars, shown_at, meant_by)


def _edges(text: str, first: int, other: int) -> list[tuple[int, int]]:
    """The blanks that a line is broken at, and how many are drawn for each."""
    edges: list[tuple[int, int]] = []
    pieces = breaks(text, first, first - other)
    for number, (start, stop) in enumerate(pieces):
        if stop < len(text) and text[stop] == " " and _is_broken_at(pieces, number, stop):
            room = other if number else first
            edges.append((stop, room - width_of(text[start:stop])))
    return edges


def _is_broken_at(pieces: list[tuple[int, int]], number: int, stop: int) -> bool:
    """The next piece begins behind the blank."""
    return number + 1 < len(pieces) and pieces[number + 1][0] == stop + 1
