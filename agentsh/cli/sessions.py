"""`agentsh sessions`: list them; print a file; tie a session to another folder.

Looking writes nothing but the index. What removes or archives has modules of its own: trash.py,
archive.py, leftovers.py.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from agentsh.cli.finding import find_session, find_store
from agentsh.cli.output import print_json, print_lines
from agentsh.cli.places import find_places
from agentsh.jsontext import JsonObject
from agentsh.session.index import Index
from agentsh.session.marks import UNMARKED, Mark, Marks
from agentsh.session.store import SessionRow, Store
from agentsh.ui.sanitize import safe_line


def listing(
    *, everywhere: bool, archived: bool, tag: str | None, json: bool, session_dir: str | None
) -> int:
    """List them, newest conversation first, what is pinned above."""
    places = find_places(os.environ, session_dir)
    store = Store(places.sessions, places.flat, summaries=Index(places.index).summaries)
    cwd = None if everywhere else str(Path.cwd())
    if archived:
        from agentsh.cli.archive import archived_rows

        rows = archived_rows(store, cwd)
    else:
        rows = store.rows(cwd)
    marks = Marks(places.sessions).all()
    if tag is not None:
        rows = [row for row in rows if tag in marks.get(row.id, UNMARKED).tags]
    rows.sort(key=lambda row: not marks.get(row.id, UNMARKED).pinned)  # stable
    if json:
        print_json([_as_json(row, marks.get(row.id, UNMARKED)) for row in rows])
    elif rows:
        print_lines(_line(row, marks.get(row.id, UNMARKED), everywhere=everywhere) for row in rows)
    else:
        sys.stderr.write(
            f"agentsh: there is no {'archived ' * archived}session{_where(cwd, tag)}\n"
        )
    return 0


def _where(cwd: str | None, tag: str | None) -> str:
    tagged = "" if tag is None else f" tagged {safe_line(tag, 60)}"
    if cwd is None:
        return tagged
    return f"{tagged} of {safe_line(cwd)} (--all lists every folder's)"


def path(session: str, *, session_dir: str | None) -> int:
    """Print the file of a session, exactly."""
    sys.stdout.buffer.write(os.fsencode(find_session(session, session_dir)) + b"\n")
    return 0


def relink(session: str, *, session_dir: str | None) -> int:
    """Tie a session to the folder one stands in."""
    find_store(session_dir).relink(find_session(session, session_dir), str(Path.cwd()))
    return 0


def _as_json(row: SessionRow, mark: Mark) -> JsonObject:
    return {
        "id": row.id,
        "path": str(row.path),
        "cwd": row.cwd,
        "name": row.name,
        "title": row.title,
        "prompt": row.prompt,
        "created": row.created,
        "updated": row.updated,
        "messages": row.messages,
        "pinned": mark.pinned,
        "tags": list(mark.tags),
        "archived": row.path.suffix == ".zst",
    }


def _line(row: SessionRow, mark: Mark, *, everywhere: bool) -> str:
    when = row.updated[:16].replace("T", " ")
    what = safe_line(row.name or row.prompt or "(nothing said yet)", 60)
    pinned = "* " if mark.pinned else ""
    tags = "".join(f" #{safe_line(tag, 30)}" for tag in mark.tags)
    where = f"  {safe_line(row.cwd)}" if everywhere else ""
    return f"{safe_line(row.id)}  {when:<16}  {row.messages:>4}  {pinned}{what}{tags}{where}"
