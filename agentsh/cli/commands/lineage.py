"""`agentsh lineage`: where a session was forked from, and what was forked from it.

A parent may be gone; that is said and is no failure. Sessions that cannot be read are named: any of
them may be a parent or a child. How they are found is
session/exchange/lineage.py's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agentsh.cli.notices import unread_words, warn
from agentsh.cli.output import print_json, print_lines
from agentsh.cli.parsing.options import Json, SessionDir, SessionWord
from agentsh.sanitize import safe_line

if TYPE_CHECKING:
    from agentsh.jsontext import JsonObject
    from agentsh.session.exchange.lineage import Ancestor, Descendant


def lineage(session: SessionWord, json: Json = False, session_dir: SessionDir = None) -> int:
    """Name a session's parents and children by fork."""
    from agentsh.cli.lookup.finding import find_session, find_store
    from agentsh.files import real
    from agentsh.session.exchange.lineage import ancestors, descendants
    from agentsh.session.store.summary import read_header

    path = real(find_session(session, session_dir))
    store = find_store(session_dir)
    unread: dict[str, str] = {}
    parents = ancestors(path, store, unread)
    children = descendants(path, store.rows(unread=unread))
    if json:
        header = read_header(path)
        print_json(
            {
                "session": header.id if header else None,
                "path": str(path),
                "parents": [_parent_as_json(parent) for parent in parents],
                "children": [_child_as_json(child) for child in children],
                "unread": sorted(unread),
            }
        )
        return _told(unread, found=bool(parents or children))
    lines = [f"parent  {_state(p, unread)}{_words(p)}" for p in parents]
    lines += [
        f"{'  ' * child.depth}child  {child.row.id}  {safe_line(str(child.row.path))}"
        for child in children
    ]
    if lines or not unread:
        print_lines(lines or ["neither forked from another session nor forked itself"])
    return _told(unread, found=bool(lines))


def _told(unread: Mapping[str, str], *, found: bool) -> int:
    warn(unread_words(unread))
    return 1 if unread and not found else 0


def _state(parent: Ancestor, unread: Mapping[str, str]) -> str:
    if not parent.is_missing:
        return ""
    return "(not readable) " if str(parent.path) in unread else "(gone) "


def _parent_as_json(parent: Ancestor) -> JsonObject:
    return {"session": parent.id, "path": str(parent.path), "missing": parent.is_missing}


def _child_as_json(child: Descendant) -> JsonObject:
    row = child.row
    return {"session": row.id, "path": str(row.path), "parent": row.parent, "depth": child.depth}


def _words(parent: Ancestor) -> str:
    return safe_line(f"{parent.id or ''}  {parent.path}".strip())
