"""The rows of a list of sessions as the store gives them: for JSON, archives and relinked ones.

Also what the index does not know is folded here. It is what listing.py can mostly do without.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from agentsh.cli.places import find_places
from agentsh.jsontext import JsonValue
from agentsh.session.index import Index
from agentsh.session.known import Known
from agentsh.session.marks import UNMARKED, Mark
from agentsh.session.store import SessionRow, Store


def rows(cwd: str | None, *, archived: bool, session_dir: str | None) -> list[SessionRow]:
    """Of that folder, or all; the newest conversation first."""
    places = find_places(os.environ, session_dir)
    store = Store(places.sessions, places.flat, summaries=Index(places.index).summaries)
    if archived:
        from agentsh.cli.archive import archived_rows

        return archived_rows(store, cwd)
    return store.rows(cwd)


def folded(index: str, files: Iterable[str]) -> list[Known]:
    """What the index, brought up to date, says of these files."""
    summaries = Index(Path(index)).summaries(Path(file) for file in files)
    return [
        (s.updated, s.created, str(path), s.id, s.cwd, s.messages, s.shown_name or s.prompt)
        for path, s in summaries.items()
    ]


def as_known(found: Iterable[SessionRow]) -> list[Known]:
    return [
        (r.updated, r.created, str(r.path), r.id, r.cwd, r.messages, r.name or r.prompt)
        for r in found
    ]


def as_json(found: Iterable[SessionRow], marks: Mapping[str, Mark], tag: str | None) -> JsonValue:
    """Those with that tag, or all; what is pinned above."""
    marked = [(row, marks.get(row.id, UNMARKED)) for row in found]
    if tag is not None:
        marked = [(row, mark) for row, mark in marked if tag in mark.tags]
    marked.sort(key=lambda each: not each[1].pinned)  # stable
    return [_member(row, mark) for row, mark in marked]


def _member(row: SessionRow, mark: Mark) -> JsonValue:
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
