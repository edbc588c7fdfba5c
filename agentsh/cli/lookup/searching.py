"""What `agentsh search` is asked for → its hits, over every session there is.

A person's words for times and folders are read here; zstd is loaded only where something was
archived. Read next: session/search/search.py.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from msgspec.structs import replace

from agentsh.cli import when
from agentsh.cli.setup.paths import Paths
from agentsh.errors import UsageError
from agentsh.files import from_home
from agentsh.session.search.fulltext import TextIndex
from agentsh.session.search.query import parse_query
from agentsh.session.search.search import Filters, Search, SearchResults
from agentsh.session.search.wish import SearchWish
from agentsh.session.store.catalog import Index
from agentsh.session.store.reader import Opener, open_reader
from agentsh.session.store.store import SessionRow, Store


def find_hits(
    wish: SearchWish, places: Paths, cwd: Path, *, around: tuple[int, int] | None = None
) -> tuple[SearchResults, dict[str, str]]:
    """The hits, and the files that could not be read with why. Raises UsageError.

    `around`: how much of the text beside a hit is given, where not the usual.
    """
    prepared = _prepared(wish)
    if around is not None:
        prepared = replace(prepared, around=around)
    store = Store(places.sessions, places.flat, summaries=Index(places.index).summaries)
    project = None if wish.project is None else from_home(wish.project)
    folder = None if project is None else os.path.abspath(cwd / project)  # noqa: PTH100
    unread: dict[str, str] = {}
    rows, opener = _rows(store, folder, unread)
    results = replace(prepared, opener=opener).over(rows, TextIndex(places.index, opener=opener))
    unread.update(results.unread)
    return results, unread


def _prepared(wish: SearchWish) -> Search:
    """What to look for, with the times as values."""
    if not wish.query.strip():
        raise UsageError("there is nothing to search for")
    if wish.limit < 1:
        raise UsageError("a limit is at least 1")
    now = time.time()
    since = None if wish.since is None else when.since(wish.since, now)
    until = None if wish.until is None else when.until(wish.until, now)
    filters = Filters(since, until, wish.role, wish.tool, wish.file, wish.model, wish.label)
    return Search(parse_query(wish.query), filters, wish.limit)


def _rows(store: Store, cwd: str | None, unread: dict[str, str]) -> tuple[list[SessionRow], Opener]:
    """The sessions, archived ones among them."""
    rows = store.rows(cwd, unread, branches=True)
    if not any(map(_has_archives, (store.root, *store.folders()))):
        return rows, open_reader
    from agentsh.cli.lookup.archived import archived_rows
    from agentsh.session.store.packed import open_any

    rows = [*rows, *archived_rows(store, cwd)]
    rows.sort(key=lambda r: (r.updated, r.created, str(r.path)), reverse=True)
    return rows, open_any


def _has_archives(folder: Path) -> bool:
    try:
        return any(file.suffix == ".zst" for file in folder.iterdir())
    except OSError:
        return False
