"""`agentsh sessions`: list them; print a file; tie a session to another folder; the trash folder.

Nothing is deleted: `rm` moves the one named file into the trash folder of agentsh's data.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from agentsh.cli.finding import find_session, find_store
from agentsh.cli.output import print_json, print_lines
from agentsh.cli.places import find_places, make_folder
from agentsh.errors import RefusedError, SessionLockedError, SessionNotSavedError, UsageError
from agentsh.jsontext import JsonObject
from agentsh.session.index import Index
from agentsh.session.lock import live_holder
from agentsh.session.store import SessionRow, Store
from agentsh.ui.sanitize import safe_line


def listing(*, everywhere: bool, json: bool, session_dir: str | None) -> int:
    """List them, newest conversation first."""
    places = find_places(os.environ, session_dir)
    store = Store(places.sessions, places.flat, summaries=Index(places.index).summaries)
    rows = store.rows(None if everywhere else str(Path.cwd()))
    if json:
        print_json([_as_json(row) for row in rows])
    elif rows:
        print_lines(_line(row, everywhere=everywhere) for row in rows)
    else:
        where = (
            "" if everywhere else f" of {safe_line(str(Path.cwd()))} (--all lists every folder's)"
        )
        sys.stderr.write(f"agentsh: there is no session{where}\n")
    return 0


def path(session: str, *, session_dir: str | None) -> int:
    """Print the file of a session, exactly."""
    sys.stdout.buffer.write(os.fsencode(find_session(session, session_dir)) + b"\n")
    return 0


def relink(session: str, *, session_dir: str | None) -> int:
    """Tie a session to the folder one stands in."""
    find_store(session_dir).relink(find_session(session, session_dir), str(Path.cwd()))
    return 0


def remove(session: str, *, yes: bool, session_dir: str | None) -> int:
    """Move a session's file into the trash folder, after a question."""
    file = find_session(session, session_dir)
    if not find_store(session_dir).owns(file):
        raise RefusedError(f"{file} is not in the sessions folder", path=str(file))
    if (holder := live_holder(str(file))) is not None:
        raise SessionLockedError(f"{file} is being written", path=str(file), holder=str(holder))
    if not yes:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageError("without a terminal to ask on, `sessions rm` needs --yes")
        sys.stderr.write(f"Move {safe_line(str(file))} into the trash folder? [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            return 0
    trash = make_folder(find_places(os.environ, session_dir).trash)
    target = trash / file.name
    try:
        if target.exists():
            target = trash / f"{file.stem}.{os.getpid()}{file.suffix}"
        file.replace(target)
    except OSError as e:
        raise SessionNotSavedError(f"{file} was not moved: {e.strerror}", path=str(file)) from e
    print_lines([safe_line(f"moved to {target}")])
    return 0


def _as_json(row: SessionRow) -> JsonObject:
    return {
        "id": row.id,
        "path": str(row.path),
        "cwd": row.cwd,
        "name": row.name,
        "prompt": row.prompt,
        "created": row.created,
        "updated": row.updated,
        "messages": row.messages,
    }


def _line(row: SessionRow, *, everywhere: bool) -> str:
    when = row.updated[:16].replace("T", " ")
    what = safe_line(row.name or row.prompt or "(nothing said yet)", 60)
    where = f"  {safe_line(row.cwd)}" if everywhere else ""
    return f"{safe_line(row.id)}  {when:<16}  {row.messages:>4}  {what}{where}"
