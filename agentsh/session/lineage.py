"""Where a session was forked from, and what was forked from it.

A header names its parent's file by path (Pi's `parentSession`). The path may be stale, for folders
move; the file's name still holds the id, and by that it is looked for in the store. A parent that
is gone altogether ends the line and is no error. Read next: fork.py, store.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from agentsh.errors import SessionError
from agentsh.session.listing import Summary, read_header
from agentsh.session.naming import id_in_name
from agentsh.session.store import SessionRow, Store

MOST_ANCESTORS = 1000


class Ancestor(Struct, frozen=True):
    """`id` None: the file is gone, and its name does not tell. `is_missing`: it cannot be read."""

    id: str | None
    path: Path
    is_missing: bool = False


class Descendant(Struct, frozen=True):
    """`depth` 0: forked from the session itself."""

    row: SessionRow
    depth: int


def ancestors(path: Path, store: Store) -> tuple[Ancestor, ...]:
    """The parent, its parent and so on; ends at the first that is gone, or at a circle."""
    found: list[Ancestor] = []
    header = _header(path)
    seen = {header.id if header is not None else ""}
    while header is not None and header.parent is not None and len(found) < MOST_ANCESTORS:
        stated = Path(header.parent)
        at = _present(stated, store)
        header = _header(at) if at is not None else None
        if at is None or header is None:
            found.append(Ancestor(id_in_name(stated.name), stated, is_missing=True))
        elif header.id in seen:
            break
        else:
            seen.add(header.id)
            found.append(Ancestor(header.id, at))
    return tuple(found)


def descendants(path: Path, rows: Iterable[SessionRow]) -> tuple[Descendant, ...]:
    """All below the session, each before its own children; children by time."""
    by_parent: dict[str, list[SessionRow]] = {}
    for row in sorted(rows, key=lambda r: (r.created, r.id), reverse=True):
        if row.parent is not None:
            by_parent.setdefault(_key(Path(row.parent)), []).append(row)
    found: list[Descendant] = []
    seen = {_key(path)}
    waiting = [Descendant(row, 0) for row in by_parent.get(_key(path), ())]
    while waiting:
        each = waiting.pop()
        key = _key(each.row.path)
        if key in seen:
            continue
        seen.add(key)
        found.append(each)
        waiting += [Descendant(row, each.depth + 1) for row in by_parent.get(key, ())]
    return tuple(found)


def _key(path: Path) -> str:
    """What makes two paths one session: the id in the name, else the path itself."""
    return id_in_name(path.name) or str(path.absolute())


def _present(stated: Path, store: Store) -> Path | None:
    """The file, or the one of that id where the store has it now."""
    if stated.is_file():
        return stated
    named = id_in_name(stated.name)
    if named is None:
        return None
    try:
        return store.find(named, "/")
    except SessionError:
        return None


def _header(path: Path) -> Summary | None:
    try:
        return read_header(path)
    except OSError:
        return None
