"""A session as `show --json` gives it: the views chat, trace and raw. Pure.

The fourth, model, is modelview.py's, since it brings the making of requests along.
Read next: views/sessionviews.py.
It stands alone: whoever asks for it loads no other value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias, assert_never

from agentsh.jsontext import JsonObject, loads
from agentsh.session.file.session import Session
from agentsh.session.format.codec import encode_header
from agentsh.session.format.entries import Entry, EntryId
from agentsh.views.sessionviews import chat_view, raw_view, trace_view

ViewName: TypeAlias = Literal["chat", "trace", "raw"]


def view_json(session: Session, view: ViewName, leaf: EntryId | None) -> JsonObject:
    """The view at that place, under the session's id and the place."""
    head: JsonObject = {"session": session.header.id, "leaf": leaf}
    match view:
        case "chat":
            return head | {"messages": chat_view(path_to(session, leaf))}
        case "trace":
            return head | {"events": trace_view(path_to(session, leaf))}
        case "raw":
            header = loads(encode_header(session.header))
            return head | {"header": header, "entries": [*raw_view(raw_entries(session))]}
        case _:
            assert_never(view)


def path_to(session: Session, end: EntryId | None) -> tuple[Entry, ...]:
    """Root → there; at the leaf with what would close an interrupted turn."""
    branch = session.branch() if end == session.leaf else session.branch(end)
    return branch.entries


def raw_entries(session: Session) -> Iterator[bytes]:
    """Every entry's line, in file order."""
    for entry in session.tree:
        yield session.raw(entry)
