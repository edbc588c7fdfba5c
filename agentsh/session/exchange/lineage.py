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
from agentsh.files import is_regular
from agentsh.session.store.folders import note_unread
from agentsh.session.store.naming import id_in_name
from agentsh.session.store.store import SessionRow, Store
from agentsh.session.store.summary import Summary, read_header

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


def ancestors(
    path: Path, store: Store, unread: dict[str, str] | None = None
) -> tuple[Ancestor, ...]:
    """The parent, its parent and so on. They end at the first that is gone, or at a circle.

    `unread` is given the one that is there and could not be read: path → the system's words.
    """
    chain: list[Ancestor] = []
    header = _header(path)
    seen = {header.id if header is not None else ""}
    while header is not None and header.parent is not None and len(chain) < MOST_ANCESTORS:
        stated = Path(header.parent)
        path_now = _present(stated, store)
        header = _header(path_now or stated, unread)
        if path_now is None or header is None:
            chain.append(Ancestor(id_in_name(stated.name), stated, is_missing=True))
        elif header.id in seen:
            break
        else:
            seen.add(header.id)
            chain.append(Ancestor(header.id, path_now))
    return tuple(chain)


def descendants(path: Path, rows: Iterable[SessionRow]) -> tuple[Descendant, ...]:
    """All below the session, each before its own children; children by time."""
    by_parent: dict[str, list[SessionRow]] = {}
    for row in sorted(rows, key=lambda r: (r.created, r.id), reverse=True):
        if row.parent is not None:
            by_parent.setdefault(_key(Path(row.parent)), []).append(row)
    below: list[Descendant] = []
    seen = {_key(path)}
    waiting = [Descendant(row, 0) for row in by_parent.get(_key(path), ())]
    while waiting:
        each = waiting.pop()
        key = _key(each.row.path)
        if key in seen:
            continue
        seen.add(key)
        below.append(each)
        waiting += [Descendant(row, each.depth + 1) for row in by_parent.get(key, ())]
    return tuple(below)


def _key(path: Path) -> str:
    """What makes two paths one session: the id in the name, else the path itself."""
    return id_in_name(path.name) or str(path.absolute())


def _present(stated: Path, store: Store) -> Path | None:
    """The file, or the one of that id where the store has it now."""
    if is_regular(stated):
        return stated
    named = id_in_name(stated.name)
    if named is None:
        return None
    try:
        return store.find(named, "/")
    except SessionError:
        return None


def _header(path: Path, unread: dict[str, str] | None = None) -> Summary | None:
    try:
        return read_header(path)
    except OSError as e:
        note_unread(unread, str(path), e)
        return None
