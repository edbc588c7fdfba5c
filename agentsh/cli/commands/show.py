"""`agentsh show`: the four projections of one session file. Looks only; needs no lock.

chat is what a person reads, trace what happened, model exactly what the next request would hold
before its prompt, raw the entries. The first two and the last are folds over entries
(views/sessionviews.py); model is what requests are made of (remote/values/modelview.py).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

from agentsh.cli.output import print_json, print_lines
from agentsh.cli.parsing.options import At, Json, SessionDir, SessionWord
from agentsh.cli.parsing.words import Option
from agentsh.errors import SessionNotFoundError, UsageError
from agentsh.sanitize import safe_text

if TYPE_CHECKING:
    from agentsh.jsontext import JsonObject
    from agentsh.session.file.session import Session
    from agentsh.session.format.entries import Entry, EntryId


VIEWS = ("chat", "trace", "model", "raw")
_SECONDS_BETWEEN_LOOKS = 0.3


def show(
    session: SessionWord,
    view: Annotated[
        str, Option("--view", metavar="VIEW", help="chat, trace, model or raw")
    ] = "chat",
    at: At = None,
    follow: Annotated[
        bool, Option("--follow", help="go on as another process writes to it")
    ] = False,
    timed: Annotated[
        float | None,
        Option("--timed", least=0.01, metavar="SPEED", help="as it happened, SPEED times as fast"),
    ] = None,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Show a session: what was said, done, or is sent; or its lines."""
    from agentsh.cli.lookup.finding import look_at
    from agentsh.remote.values.views import path_to

    if view not in VIEWS:
        raise UsageError(f"--view {view!r} is none of " + ", ".join(VIEWS))
    if follow and (json or at is not None or view == "model"):
        raise UsageError("--follow goes with the views chat, trace and raw as text, at the leaf")
    if timed is not None and (json or follow or view not in ("chat", "trace")):
        raise UsageError("--timed goes with the views chat and trace as text")
    with look_at(session, session_dir) as opened:
        leaf = opened.leaf if at is None else opened.resolve(at)
        if json:
            print_json(_value(opened, view, leaf))
        elif timed is not None:
            _play(path_to(opened, leaf), view, timed)
        else:
            print_lines(_lines(opened, view, leaf))
        shown_ids = set(opened.tree) if follow else set()
        path = opened.path
        spoken = follow and any(True for _ in _lines(opened, view, leaf))
    return _follow(path, view, shown_ids, spoken) if follow and path is not None else 0


def _value(session: Session, view: str, leaf: EntryId | None) -> JsonObject:
    from agentsh.remote.values.views import view_json

    match view:
        case "chat" | "trace" | "raw":
            return view_json(session, view, leaf)
        case _:
            from agentsh.remote.values.modelview import model_view_json

            return model_view_json(session, leaf)


def _lines(session: Session, view: str, leaf: EntryId | None) -> Iterator[str]:
    from agentsh.remote.values.views import path_to, raw_entries
    from agentsh.session.format.codec import encode_header
    from agentsh.ui.text.views import chat_lines, raw_lines, trace_lines

    match view:
        case "chat":
            return chat_lines(path_to(session, leaf))
        case "trace":
            return trace_lines(path_to(session, leaf))
        case "model":
            return _model_lines(session, leaf)
        case _:
            return raw_lines([encode_header(session.header).rstrip(b"\n"), *raw_entries(session)])


def _model_lines(session: Session, leaf: EntryId | None) -> Iterator[str]:
    """One message a line, as JSON; controls are escaped in it, the rest is made safe."""
    from agentsh import jsontext
    from agentsh.remote.values.modelview import model_messages

    for message in model_messages(session, leaf):
        yield safe_text(jsontext.dumps_text(message))


def _play(entries: tuple[Entry, ...], view: str, speed: float) -> None:
    """As it happened: the pauses of then, so many times as fast."""
    from agentsh.ui.text.pacing import paced
    from agentsh.ui.text.views import chat_lines, trace_lines

    owed, spoken = 0.0, False
    for wait, entry in paced(entries, speed):
        owed += wait
        lines = list(chat_lines([entry]) if view == "chat" else trace_lines([entry]))
        if not lines:
            continue
        time.sleep(owed)
        print_lines(_apart(lines, view, spoken))
        owed, spoken = 0.0, True


def _follow(path: Path, view: str, shown_ids: set[EntryId], spoken: bool) -> NoReturn:
    """Print what is appended, until the person stops it or the reader goes away.

    `spoken`: something was printed before.
    """
    from agentsh.session.file.session import open_session

    size = -1
    while True:
        now = _size_of(path)
        if now != size:
            with open_session(path, write=False) as session:
                # what was written since `now` may be read as well: then it is looked at again
                size = now if _size_of(path) == now else -1
                # a batch that could not be made durable is cut off again; what comes in its place
                # may have its ids
                shown_ids &= set(session.tree)
                fresh = [entry for entry in session.tree if entry not in shown_ids]
                shown_ids.update(fresh)
                lines = list(_fresh_lines(session, view, fresh))
                print_lines(_apart(lines, view, spoken))
                spoken = spoken or bool(lines)
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _size_of(path: Path) -> int:
    """Raises SessionNotFoundError."""
    try:
        return path.stat().st_size
    except OSError as e:
        raise SessionNotFoundError(f"{path} is gone: {e.strerror}", path=str(path)) from e


def _apart(lines: list[str], view: str, spoken: bool) -> list[str]:
    """In the chat an empty line stands before what is said after something else."""
    return ["", *lines] if lines and spoken and view == "chat" else lines


def _fresh_lines(session: Session, view: str, fresh: list[EntryId]) -> Iterator[str]:
    from agentsh.ui.text.views import chat_lines, raw_lines, trace_lines

    entries = [session.entry(entry) for entry in fresh]
    match view:
        case "chat":
            return chat_lines(entries)
        case "trace":
            return trace_lines(entries)
        case _:
            return raw_lines([session.raw(entry) for entry in fresh])
