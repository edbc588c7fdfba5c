"""Which sessions were tied to another folder than their header names: an overlay of the store.

A moved project takes its sessions along by `sessions relink`. The session file itself is neither
touched (its header is under a seal) nor moved (a child names its parent by path); the overlay says
where it belongs now. Lost, it only means that the old folder counts again (docs/adr/0011). It
stands alone as one overlay of several.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from agentsh.jsontext import JsonValue
from agentsh.session.store.folders import RELINKED
from agentsh.session.store.overlay import Overlay


class Relink(Struct, frozen=True):
    """`file`: where the session lay when it was tied, relative to the store's root."""

    cwd: str
    file: str


class Relinks:
    """The overlay of one store."""

    def __init__(self, root: Path) -> None:
        self._overlay = Overlay(root, RELINKED)

    def all(self) -> Mapping[str, Relink]:
        """session id → where it belongs."""
        relinks = {}
        for id_, value in self._overlay.read().items():
            cwd, file = (value.get("cwd"), value.get("file")) if isinstance(value, dict) else (0, 0)
            if isinstance(cwd, str) and isinstance(file, str):
                relinks[id_] = Relink(cwd, file)
        return relinks

    def set(self, session: str, relink: Relink | None) -> None:
        """Tie a session, or (None) let its header count again. Raises SessionNotSavedError."""
        value: JsonValue = None if relink is None else {"cwd": relink.cwd, "file": relink.file}
        self._overlay.change(session, lambda _before: value)
