"""Text with looks, broken into rows that fit: one way for answers, cards, questions and trees.

A look is written as the theme's roles and the attributes `bold italic underline strike`, with
blanks between them ("" is the plain foreground). Pure. Read next: inline.py, highlight.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from agentsh.ui.cells import breaks, cut

Styled: TypeAlias = tuple[str, str]
"""Safe text without line ends, and its look."""
Laid: TypeAlias = tuple[list[Styled], int]
"""A line that is not broken yet; columns that its later rows stand in."""

_ADDRESS: Final = re.compile(r"\S*https?://\S+")
_LONGEST: Final = 2000
"""Characters of a line in which an address is kept whole."""


def styled_lines(spans: Iterable[Styled]) -> list[list[Styled]]:
    """Spans that may hold line ends, as lines."""
    lines: list[list[Styled]] = [[]]
    for text, look in spans:
        first, *more = text.split("\n")
        if first:
            lines[-1].append((first, look))
        lines.extend([(piece, look)] if piece else [] for piece in more)
    return lines


def text_of(row: Iterable[Styled]) -> str:
    return "".join(text for text, _ in row)


def toolkit_spans(row: Iterable[Styled]) -> list[tuple[str, str]]:
    """The same for prompt_toolkit, whose style has a class for each role."""
    return [(" ".join(f"class:{word}" for word in look.split()), text) for text, look in row]


def rows(spans: Sequence[Styled], width: int, indent: int = 0) -> list[list[Styled]]:
    """One line in rows of at most `width` cells; all but the first stand `indent` cells in."""
    text = text_of(spans)
    if len(text) <= width and text.isascii():
        return [list(spans)]
    indent = min(indent, width // 2)
    places = breaks(text, width, indent)
    if len(places) == 1:
        return [list(spans)]
    margin: list[Styled] = [(" " * indent, "")] if indent else []
    return [
        [*(margin if n else ()), *_part(spans, start, stop)]
        for n, (start, stop) in enumerate(places)
    ]


def around_addresses(
    spans: Sequence[Styled], width: int, lead: int = 0
) -> Iterator[tuple[list[Styled], bool]]:
    """A line cut around addresses of the web longer than `width`; True for those.

    Broken into rows they could be neither opened nor copied. What stands before one in the first
    `lead` cells stays with it, the mark of a list.
    """
    text, start = text_of(spans), 0
    for match in _ADDRESS.finditer(text) if len(text) > width else ():
        if match.end() - match.start() <= width:
            continue
        begin = match.start()
        if begin > max(start, lead):
            yield list(_part(spans, start, begin)), False
            start = begin
        yield list(_part(spans, start, match.end())), True
        start = match.end() + (text[match.end() : match.end() + 1] == " ")
    if start < len(text) or not start:
        yield list(_part(spans, start, len(text))), False


def cut_around_address(text: str, width: int) -> str:
    """A line cut to `width` cells with a mark of it; later, where it would be cut in an address."""
    begun = cut(text, width - 1)
    for match in _ADDRESS.finditer(text[:_LONGEST]):
        if match.start() < len(begun) < match.end():
            return text[: match.end()] + ("…" if match.end() < len(text) else "")
    return begun + "…"


def _part(spans: Sequence[Styled], start: int, stop: int) -> Iterator[Styled]:
    offset = 0
    for text, look in spans:
        piece = text[max(0, start - offset) : max(0, stop - offset)]
        if piece:
            yield piece, look
        offset += len(text)
        if offset >= stop:
            return
