"""`Session.list`: what `sessions --json` prints, without opening any of them.

It stands alone because the index is loaded for it only. Read next: cli/commands/sessions.py.
"""

from __future__ import annotations

import os
from os import PathLike
from typing import Any

from agentsh.cli.assembly.scripting.arguments import folder_of
from agentsh.cli.setup.paths import find_places
from agentsh.remote.values.sessions import session_row_json
from agentsh.session.store.catalog import Index
from agentsh.session.store.marks import UNMARKED, Marks
from agentsh.session.store.store import Store


def listed_sessions(
    everywhere: bool, cwd: str | PathLike[str], session_dir: str | PathLike[str] | None
) -> list[dict[str, Any]]:
    """The newest conversation first, pinned ones before all."""
    places = find_places(os.environ, None if session_dir is None else str(session_dir))
    store = Store(places.sessions, places.flat, summaries=Index(places.index).summaries)
    rows = store.rows(None if everywhere else str(folder_of({"cwd": cwd})))
    marks = Marks(places.sessions).all()
    marked = [(row, marks.get(row.id, UNMARKED)) for row in rows]
    marked.sort(key=lambda each: not each[1].pinned)  # stable
    return [session_row_json(row, mark) for row, mark in marked]
