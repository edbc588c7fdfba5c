"""`agentsh lineage`: where a session was forked from, and what was forked from it.

A parent may be gone; that is said and is no failure. How they are found is session/lineage.py's.
"""

from __future__ import annotations

from agentsh.cli.finding import find_session, find_store
from agentsh.cli.output import print_json, print_lines
from agentsh.jsontext import JsonObject
from agentsh.session.lineage import Ancestor, Descendant, ancestors, descendants
from agentsh.session.listing import read_header
from agentsh.ui.sanitize import safe_line


def lineage(session: str, *, json: bool, session_dir: str | None) -> int:
    """Print the parents, the nearest first, and all children below it."""
    path = find_session(session, session_dir).resolve()
    store = find_store(session_dir)
    parents = ancestors(path, store)
    children = descendants(path, store.rows())
    if json:
        header = read_header(path)
        print_json(
            {
                "session": header.id if header else None,
                "path": str(path),
                "parents": [_parent_as_json(parent) for parent in parents],
                "children": [_child_as_json(child) for child in children],
            }
        )
        return 0
    lines = [f"parent  {'(gone) ' if p.is_missing else ''}{_words(p)}" for p in parents]
    lines += [
        f"{'  ' * child.depth}child  {child.row.id}  {safe_line(str(child.row.path))}"
        for child in children
    ]
    print_lines(lines or ["neither forked from another session nor forked itself"])
    return 0


def _parent_as_json(parent: Ancestor) -> JsonObject:
    return {"session": parent.id, "path": str(parent.path), "missing": parent.is_missing}


def _child_as_json(child: Descendant) -> JsonObject:
    row = child.row
    return {"session": row.id, "path": str(row.path), "parent": row.parent, "depth": child.depth}


def _words(parent: Ancestor) -> str:
    return safe_line(f"{parent.id or ''}  {parent.path}".strip())
