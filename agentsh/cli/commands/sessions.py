"""`agentsh sessions`: the list; `sessions path` prints a file, `sessions relink` ties a session.

Looking writes nothing but the index. The other commands below this one have modules of their own:
marks.py, archive.py, trash.py, leftovers.py.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from agentsh.cli.notices import unread_words, warn
from agentsh.cli.output import columns, fitted, print_json, print_lines
from agentsh.cli.parsing.options import Json, SessionDir, SessionWord
from agentsh.cli.parsing.words import Option
from agentsh.sanitize import safe_line

if TYPE_CHECKING:
    from agentsh.session.store.marks import Mark
    from agentsh.session.store.store import SessionRow, Store


def sessions(
    everywhere: Annotated[bool, Option("--all", help="of every directory")] = False,
    archived: Annotated[bool, Option("--archived", help="the archived ones")] = False,
    tag: Annotated[
        str | None, Option("--tag", metavar="TAG", help="only those with that tag")
    ] = None,
    commit: Annotated[
        str | None,
        Option("--commit", metavar="SHA", help="only those with a turn at that commit of git"),
    ] = None,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """List sessions, and keep them."""
    from agentsh.cli.setup.paths import find_places
    from agentsh.session.store.catalog import Index
    from agentsh.session.store.marks import UNMARKED, Marks
    from agentsh.session.store.store import Store

    places = find_places(os.environ, session_dir)
    store = Store(places.sessions, places.flat, summaries=Index(places.index).summaries)
    cwd = None if everywhere else str(Path.cwd())
    unread: dict[str, str] = {}
    rows = _rows(store, cwd, unread, archived=archived)
    if commit is not None:
        rows = _at_commit(rows, commit, unread)
    marks: Mapping[str, Mark] = Marks(places.sessions).all()
    each = ((row, marks.get(row.id, UNMARKED)) for row in rows)
    marked = [(row, mark) for row, mark in each if tag is None or tag in mark.tags]
    marked.sort(key=lambda each: not each[1].pinned)  # stable
    if json:
        _print_json(marked)
    elif marked:
        width = columns()
        lines = [fitted(_line(row, mark, everywhere), width) for row, mark in marked]
        print_lines(["\n".join(lines)])  # one write
    elif not unread:
        warn([f"there is no {'archived ' * archived}session{_where(cwd, tag, commit)}"])
    warn(unread_words(unread))
    return 1 if unread and not marked else 0


def path(session: SessionWord, session_dir: SessionDir = None) -> int:
    """Print the file of a session."""
    from agentsh.cli.lookup.finding import find_session

    sys.stdout.buffer.write(os.fsencode(find_session(session, session_dir)) + b"\n")
    return 0


def relink(session: SessionWord, session_dir: SessionDir = None) -> int:
    """Tie a session to the folder one stands in; no entry changes."""
    from agentsh.cli.lookup.finding import find_session, find_store

    find_store(session_dir).relink(find_session(session, session_dir), str(Path.cwd()))
    return 0


def _rows(
    store: Store, cwd: str | None, unread: dict[str, str], *, archived: bool
) -> list[SessionRow]:
    """The newest conversation first."""
    if not archived:
        return store.rows(cwd, unread)
    from agentsh.cli.lookup.archived import archived_rows

    return archived_rows(store, cwd)


def _at_commit(rows: list[SessionRow], word: str, unread: dict[str, str]) -> list[SessionRow]:
    """Those of the rows that stood on that commit, or made it. Raises UsageError."""
    from agentsh.errors import SessionError
    from agentsh.session.search.commits import commit_prefix, was_at
    from agentsh.session.store.reader import open_reader

    opener = open_reader
    if any(row.path.suffix == ".zst" for row in rows):
        from agentsh.session.store.packed import open_any  # loads zstd

        opener = open_any
    prefix = commit_prefix(word)
    matches = []
    for row in rows:
        try:
            if was_at(row.path, prefix, opener):
                matches.append(row)
        except (SessionError, OSError) as e:
            unread[str(row.path)] = str(e)
    return matches


def _print_json(marked: list[tuple[SessionRow, Mark]]) -> None:
    from agentsh.remote.values.sessions import session_row_json

    print_json([session_row_json(row, mark) for row, mark in marked])


def _where(cwd: str | None, tag: str | None, commit: str | None) -> str:
    tagged = "" if tag is None else f" tagged {safe_line(tag, 60)}"
    if commit is not None:
        tagged += f" with a turn at {safe_line(commit, 64)}"
    if cwd is None:
        return tagged
    return f"{tagged} of {safe_line(cwd)} (--all lists every folder's)"


def _line(row: SessionRow, mark: Mark, everywhere: bool) -> str:
    from agentsh.session.format.times import local_minute

    when = local_minute(row.updated)
    what = safe_line(row.name or row.prompt or "(nothing said yet)", 60)
    pinned = "* " if mark.pinned else ""
    tags = "".join(f" #{safe_line(tag, 30)}" for tag in mark.tags)
    where = f"  {safe_line(row.cwd)}" if everywhere else ""
    return f"{safe_line(row.id)}  {when:<16}  {row.messages:>4}  {pinned}{what}{tags}{where}"
