"""A session of a list, as a value. Pure.

It stands alone: whoever asks for it loads no other value. Read next: session/store/store.py.
"""

from __future__ import annotations

from msgspec import Struct, to_builtins

from agentsh.jsontext import JsonObject
from agentsh.session.store.marks import Mark
from agentsh.session.store.store import SessionRow


class ListedSession(Struct, frozen=True):
    """A session in a list. Times are of the talk, in UTC; `messages` counts what was said."""

    id: str
    path: str
    cwd: str
    name: str | None
    title: str | None
    prompt: str | None
    created: str
    updated: str
    messages: int
    pinned: bool
    tags: tuple[str, ...]
    archived: bool


def listed_session(row: SessionRow, mark: Mark) -> ListedSession:
    return ListedSession(
        id=row.id,
        path=str(row.path),
        cwd=row.cwd,
        name=row.name,
        title=row.title,
        prompt=row.prompt,
        created=row.created,
        updated=row.updated,
        messages=row.messages,
        pinned=mark.pinned,
        tags=tuple(mark.tags),
        archived=row.path.suffix == ".zst",
    )


def session_row_json(row: SessionRow, mark: Mark) -> JsonObject:
    value: JsonObject = to_builtins(listed_session(row, mark))
    return value
