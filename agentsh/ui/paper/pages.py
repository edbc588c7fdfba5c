"""Pages of lines to be read on the whole screen, and how they look. Loads nothing that colours.

Read next: shelf.py, reader.py; changes.py, which marks what differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from agentsh.ui.theme import Role

if TYPE_CHECKING:  # it loads a library of the terminal, which plain lines have no use for
    from agentsh.ui.paper.rows import Laid


class PageLine(Struct, frozen=True):
    """A safe line of text, and how it looks."""

    text: str
    role: Role = "plain"
    hang: int = 0
    """Cells that what does not fit into a row stands in below."""
    file: str = ""
    """Whose difference the line is of; neighbours of one file are looked at together."""


class Page(Struct, frozen=True):
    """`title` is a safe line; `lines` is called when the page is looked at."""

    title: str
    lines: Callable[[], list[PageLine]]


Lay: TypeAlias = "Callable[[Iterable[PageLine]], Iterable[Laid]]"
"""How lines become spans of text with a look."""


def plain_page_lines(lines: Iterable[PageLine]) -> Iterator[Laid]:
    """Each line in its one look."""
    for line in lines:
        look = "" if line.role == "plain" else str(line.role)
        yield [(line.text.expandtabs(4), look)], line.hang
