"""`agentsh lineage`: where a session was forked from, and what was forked from it.

A parent is named by its path in the header; it may be gone. Children are found among all sessions
of this user.
"""

from __future__ import annotations

from pathlib import Path

from agentsh.cli.finding import find_session, find_store
from agentsh.cli.output import print_json, print_lines
from agentsh.jsontext import JsonObject
from agentsh.session.listing import read_header
from agentsh.session.store import SessionRow
from agentsh.ui.sanitize import safe_line

MOST_PARENTS = 1000


def lineage(session: str, *, json: bool, session_dir: str | None) -> int:
    """Print the parents, the nearest first, and all children below it."""
    path = find_session(session, session_dir).resolve()
    rows = find_store(session_dir).rows()
    parents = _parents(path)
    children = _children(path, rows)
    if json:
        header = read_header(path)
        print_json(
            {
                "session": header.id if header else None,
                "path": str(path),
                "parents": parents,
                "children": [_as_json(row, depth) for row, depth in children],
            }
        )
        return 0
    lines = [f"parent  {'' if p['session'] else '(gone) '}{_words(p)}" for p in parents]
    lines += [
        f"{'  ' * depth}child  {row.id}  {safe_line(str(row.path))}" for row, depth in children
    ]
    print_lines(lines or ["neither forked from another session nor forked itself"])
    return 0


def _parents(path: Path) -> list[JsonObject]:
    found: list[JsonObject] = []
    seen = {path}
    header = read_header(path)
    while header is not None and header.parent and len(found) < MOST_PARENTS:
        at = Path(header.parent)
        if at in seen:
            break
        seen.add(at)
        header = read_header(at) if at.is_file() else None
        found.append({"session": header.id if header else None, "path": str(at)})
    return found


def _children(path: Path, rows: list[SessionRow]) -> list[tuple[SessionRow, int]]:
    """(session, depth) below this one, each before its own children."""
    by_parent: dict[Path, list[SessionRow]] = {}
    for row in rows:
        if row.parent:
            by_parent.setdefault(Path(row.parent), []).append(row)
    found: list[tuple[SessionRow, int]] = []
    seen = {path}
    waiting = [(row, 0) for row in by_parent.get(path, [])]
    while waiting:
        row, depth = waiting.pop()
        if row.path in seen:
            continue
        seen.add(row.path)
        found.append((row, depth))
        waiting += [(child, depth + 1) for child in by_parent.get(row.path, [])]
    return found


def _as_json(row: SessionRow, depth: int) -> JsonObject:
    return {"session": row.id, "path": str(row.path), "parent": row.parent, "depth": depth}


def _words(parent: JsonObject) -> str:
    return safe_line(f"{parent['session'] or ''}  {parent['path']}".strip())
