"""`sessions archive`, `unarchive` and `sessions --archived`."""

from __future__ import annotations

import os
from pathlib import Path
from time import time

from agentsh.cli.finding import find_session, find_store, ways_on
from agentsh.cli.output import print_lines
from agentsh.cli.places import find_places, make_folder
from agentsh.errors import AmbiguousSessionError, RefusedError, SessionNotFoundError
from agentsh.session.archive import archive as pack
from agentsh.session.archive import archives, summarize_archive
from agentsh.session.archive import unarchive as unpack
from agentsh.session.entries import SessionId
from agentsh.session.naming import id_in_name, is_id_word
from agentsh.session.store import SessionRow, Store
from agentsh.session.times import iso_time
from agentsh.ui.sanitize import safe_line


def archive(session: str, *, session_dir: str | None) -> int:
    """Compress it in its place; print what that saved."""
    file = find_session(session, session_dir)
    if not find_store(session_dir).owns(file):
        raise RefusedError(f"{file} is not in the sessions folder", path=str(file))
    with ways_on(file):
        done = pack(file, now=iso_time(time()))
    print_lines([safe_line(f"{done.path}  {done.size} bytes are {done.packed} now")])
    return 0


def unarchive(session: str, *, session_dir: str | None) -> int:
    """Bring it back, and print its file."""
    print_lines([safe_line(str(unpack(_find(find_store(session_dir), session)).path))])
    return 0


def archived_rows(store: Store, cwd: str | None) -> list[SessionRow]:
    """As `Store.rows`, of the archives; each is unpacked for it."""
    state = make_folder(find_places(os.environ).state)
    rows = []
    for path in _archives(store):
        summary = summarize_archive(path, state / f".archived.{os.getpid()}")
        if summary is None:
            continue
        home = store.cwd_of(summary.id, summary.cwd)
        if cwd is None or home == cwd:
            rows.append(
                SessionRow(
                    SessionId(summary.id),
                    path,
                    home,
                    summary.shown_name,
                    summary.prompt,
                    summary.created,
                    summary.updated,
                    summary.messages,
                    summary.version,
                    summary.parent,
                    summary.shown_title,
                )
            )
    return sorted(rows, key=lambda r: (r.updated, r.created, str(r.path)), reverse=True)


def _archives(store: Store) -> list[Path]:
    return archives((store.root, *store.folders()))


def _find(store: Store, word: str) -> Path:
    """By the id in the file's name. Raises SessionNotFound- or AmbiguousSessionError."""
    if not is_id_word(word):
        raise SessionNotFoundError(f"no archived session matches {word[:80]!r}")
    ids = {path: id_in_name(path.name.removesuffix(".zst")) or "" for path in _archives(store)}
    found = [p for p, i in ids.items() if i == word] or [
        p for p, i in ids.items() if i.startswith(word)
    ]
    if not found:
        raise SessionNotFoundError(
            f"no archived session matches {word!r}", hint="`agentsh sessions --archived --all`"
        )
    if len(found) > 1:
        names = tuple(sorted(ids[p] for p in found))
        raise AmbiguousSessionError(
            f"{word!r} matches {len(found)} archived sessions: {', '.join(names[:5])}",
            matches=names,
        )
    return found[0]
