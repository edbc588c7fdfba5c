"""`agentsh search`: full text over every session, with the index where it can be had.

Hits go to stdout; that some were left out, or something was not searched whole, to stderr.
Read next: session/search.py.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from agentsh.cli.notices import warn
from agentsh.cli.output import columns, fitted, print_json, print_lines
from agentsh.cli.places import find_places
from agentsh.cli.when import since, until
from agentsh.errors import UsageError
from agentsh.jsontext import JsonObject
from agentsh.session.index import Index
from agentsh.session.indextext import TextIndex
from agentsh.session.query import parse_query
from agentsh.session.search import Filters, Found, Hit, Search
from agentsh.session.searchable import MAX_TEXT
from agentsh.session.source import Opener, open_source
from agentsh.session.store import SessionRow, Store
from agentsh.ui.sanitize import safe_line

_PLACES = {"path": "", "compacted": "  (before a compaction)", "branch": "  (another branch)"}


class Asked(Struct, frozen=True):
    """The filters, as the options give them."""

    since: str | None = None
    until: str | None = None
    role: str | None = None
    tool: str | None = None
    file: str | None = None
    model: str | None = None
    label: str | None = None

    def filters(self, now: float) -> Filters:
        return Filters(
            since=None if self.since is None else since(self.since, now),
            until=None if self.until is None else until(self.until, now),
            role=self.role,
            tool=self.tool,
            file=self.file,
            model=self.model,
            label=self.label,
        )


def search(
    query: str,
    asked: Asked,
    *,
    project: str | None,
    limit: int,
    json: bool,
    session_dir: str | None,
) -> int:
    """Print the hits, the newest conversation first."""
    if not query.strip():
        raise UsageError("there is nothing to search for")
    width = None if json else columns()
    wanted = Search(parse_query(query), asked.filters(time.time()), limit)
    if width is not None:  # the hit itself must be in what is seen of a line
        wanted = replace(wanted, around=(min(80, width // 3), 160))
    places = find_places(os.environ, session_dir)
    store = Store(places.sessions, places.flat, summaries=Index(places.index).summaries)
    cwd = None if project is None else os.path.abspath(Path(project).expanduser())  # noqa: PTH100
    rows, opener = _rows(store, cwd)
    found = replace(wanted, opener=opener).over(rows, TextIndex(places.index, opener=opener))
    if json:
        print_json([_as_json(hit) for hit in found.hits])
    else:
        print_lines(fitted(line, width) for line in _lines(found))
    warn(_notes(found, limit))
    return 0


def _rows(store: Store, cwd: str | None) -> tuple[list[SessionRow], Opener]:
    """The sessions, archived ones among them; zstd is loaded only where there are such."""
    rows = store.rows(cwd)
    if not any(map(_has_archives, (store.root, *store.folders()))):
        return rows, open_source
    from agentsh.cli.archive import archived_rows
    from agentsh.session.packed import open_any

    rows = [*rows, *archived_rows(store, cwd)]
    rows.sort(key=lambda r: (r.updated, r.created, str(r.path)), reverse=True)
    return rows, open_any


def _has_archives(folder: Path) -> bool:
    try:
        return any(file.suffix == ".zst" for file in folder.iterdir())
    except OSError:
        return False


def _notes(found: Found, limit: int) -> Iterator[str]:
    if not found.hits:
        yield "nothing was found"
    if found.more:
        yield f"the first {limit} hits are shown and there are more: --limit shows more of them"
    if found.cut:
        yield (
            f"{found.cut} entries are longer than {MAX_TEXT:,} characters:"
            " of these only the beginning and the end were searched"
        )


def _as_json(hit: Hit) -> JsonObject:
    return {
        "session": hit.session,
        "path": str(hit.path),
        "entry": hit.entry,
        "role": hit.role,
        "text": hit.text,
        "onPath": hit.on_path,
        "place": hit.place,
        "type": hit.type,
        "time": hit.time,
        "line": hit.line,
        "tools": list(hit.tools),
        "cwd": hit.cwd,
        "name": hit.name,
        "archived": hit.path.name.endswith(".zst"),
    }


def _lines(found: Found) -> Iterator[str]:
    """For people: where it is, as `--session` and `checkout` take it, and the text around it."""
    for hit in found.hits:
        what = f"{hit.role} {' '.join(dict.fromkeys(hit.tools))}".strip()
        when = hit.time[:16].replace("T", " ")
        yield safe_line(
            f"{hit.session} {hit.entry}  {when}  {what}  {hit.name or hit.cwd}{_PLACES[hit.place]}"
        )
        yield f"    {safe_line(hit.text, 300)}"
