"""What the person marked sessions with: pins and tags, an overlay of the store.

They are about a list and not about the conversation, so they are no entries: a session that another
process writes can be pinned, and pinning reorders no history (docs/adr/0026). Lost, nothing but the
marks is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from agentsh.jsontext import JsonValue
from agentsh.session.store.folders import MARKS
from agentsh.session.store.overlay import Overlay


class Mark(Struct, frozen=True):
    pinned: bool = False
    tags: tuple[str, ...] = ()


UNMARKED = Mark()


class Marks:
    """The overlay of one store."""

    def __init__(self, root: Path) -> None:
        self._overlay = Overlay(root, MARKS)

    def all(self) -> Mapping[str, Mark]:
        """session id → its marks; what has none is left out."""
        return {i: m for i, v in self._overlay.read().items() if (m := _read(v)) != UNMARKED}

    def change(self, session: str, new: Callable[[Mark], Mark]) -> None:
        """Raises SessionNotSavedError."""
        self._overlay.change(session, lambda before: _value(new(_read(before))))


def _read(value: JsonValue) -> Mark:
    if not isinstance(value, dict):
        return UNMARKED
    tags = value.get("tags")
    listed = tags if isinstance(tags, list) else []
    return Mark(value.get("pinned") is True, tuple(t for t in listed if isinstance(t, str)))


def _value(mark: Mark) -> JsonValue:
    if mark == UNMARKED:
        return None
    return {"pinned": mark.pinned, "tags": list(mark.tags)}
