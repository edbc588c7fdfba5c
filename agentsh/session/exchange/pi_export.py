"""A session as Pi's own lines: without our facts, stamps and members, and with the chain kept.

The last line leads up to the leaf, as Pi takes the last line's place for the leaf: where it would
not (the leaf was moved and nothing was said since), the session's name is said once more there.
Only reads the session; `change` is a redactor's. Read next: subset.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from agentsh.jsontext import JsonObject, dumps
from agentsh.session.exchange.subset import Kept, Thinned, without_facts, without_private
from agentsh.session.file.session import Session
from agentsh.session.format.codec import encode_header
from agentsh.session.format.entries import VERSION, EntryId, Header
from agentsh.session.format.ids import entry_id, salt

Transform: TypeAlias = Callable[[JsonObject], JsonObject]


def unchanged(value: JsonObject) -> JsonObject:
    return value


class PiLines:
    """`at`: only the path to that entry. `private`: with what was run for oneself.

    `thinned.left_out` counts once the lines are used up.
    """

    def __init__(
        self, session: Session, *, leaf: EntryId | None, whole: bool, private: bool = False
    ) -> None:
        self._session = session
        self.leaf = session.leaf if whole else leaf
        self._is_whole = whole
        only = None if whole else frozenset(session.tree.path(leaf))
        leave_out = without_facts if private else without_private
        self.thinned = Thinned(session, leave_out=leave_out, only=only)

    def entries(self, change: Transform = unchanged) -> Iterator[JsonObject]:
        """Every entry's line as a value."""
        ids: set[str] = set()
        time = self._session.header.timestamp
        for line in self.thinned.lines():
            ids.add(line.id)
            time = _time(line, time)
            yield change(line.value)
        leaf = self.thinned.nearest(self.leaf)
        for label in () if self._is_whole else self._labels(leaf, time, ids):
            leaf = EntryId(str(label["id"]))
            self.thinned.last = leaf
            yield change(label)
        if self.thinned.last != leaf:
            yield change(self._place(leaf, time, ids))

    def bytes(self, change: Transform = unchanged) -> Iterator[bytes]:
        """The file."""
        yield encode_header(_header(self._session.header))
        for value in self.entries(change):
            yield dumps(value) + b"\n"

    def _labels(self, leaf: EntryId | None, time: str, ids: set[str]) -> Iterator[JsonObject]:
        """What the entries of a path are called now, wherever the file says so."""
        for target, label in self._session.tree.labels.items():
            if target not in ids:
                continue
            line = self._line("label", leaf, time, ids)
            ids.add(str(line["id"]))
            leaf = EntryId(str(line["id"]))
            yield {**line, "targetId": target, "label": label}

    def _place(self, leaf: EntryId | None, time: str, ids: set[str]) -> JsonObject:
        line = self._line("session_info", leaf, time, ids)
        return {**line, "name": self._session.tree.name or ""}

    def _line(self, kind: str, parent: EntryId | None, time: str, ids: set[str]) -> JsonObject:
        fresh = entry_id(len(ids) + 1, salt(self._session.header.id), ids)
        return {"type": kind, "id": fresh, "parentId": parent, "timestamp": time}


def _time(line: Kept, before: str) -> str:
    time = line.value.get("timestamp")
    return time if isinstance(time, str) else before


def _header(header: Header) -> Header:
    extra = {k: v for k, v in header.extra.items() if k != "agentsh"}
    return Header(header.id, header.timestamp, header.cwd, VERSION, header.parent_session, extra)
