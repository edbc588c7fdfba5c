"""Pages of lines to be read on the whole screen. Values only. Read next: shelf.py, reader.py."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from agentsh.ui.theme import Role


class Line(Struct, frozen=True):
    """A safe line of text, and how it looks."""

    text: str
    role: Role = "plain"


class Page(Struct, frozen=True):
    """`title` is a safe line; `lines` is called when the page is looked at."""

    title: str
    lines: Callable[[], list[Line]]
