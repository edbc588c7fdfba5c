"""`agentsh show`: the four projections of one session file. Looks only; needs no lock.

chat is what a person reads, trace what happened, model exactly what the next request would hold
before its prompt, raw the entries. The first two and the last are folds over entries (ui/views.py);
model goes through the very code that makes requests (agent/requests.py).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from agentsh import jsontext
from agentsh.agent.requests import Target, step_request
from agentsh.cli.finding import look_at
from agentsh.cli.output import print_json, print_lines
from agentsh.context.projection import project
from agentsh.errors import SessionNotFoundError, UsageError
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import ModelRef
from agentsh.providers.base import Shape
from agentsh.providers.chat import wire_messages
from agentsh.providers.dialects import from_json
from agentsh.session.codec import encode_header
from agentsh.session.entries import Branch, Custom, Entry, EntryId
from agentsh.session.factcodec import decode_fact
from agentsh.session.facts import RequestSent
from agentsh.session.session import Session, open_session
from agentsh.ui.sanitize import safe_text
from agentsh.ui.views import chat_lines, chat_view, raw_lines, raw_view, trace_lines, trace_view

VIEWS = ("chat", "trace", "model", "raw")
_SECONDS_BETWEEN_LOOKS = 0.3


def show(
    session: str,
    *,
    view: str,
    at: str | None,
    follow: bool,
    json: bool,
    session_dir: str | None,
    timed: float | None = None,
) -> int:
    """Show one view."""
    if view not in VIEWS:
        raise UsageError(f"--view {view!r} is none of " + ", ".join(VIEWS))
    if follow and (json or at is not None or view == "model"):
        raise UsageError("--follow goes with the views chat, trace and raw as text, at the leaf")
    if timed is not None and (json or follow or view not in ("chat", "trace")):
        raise UsageError("--timed goes with the views chat and trace as text")
    with look_at(session, session_dir) as opened:
        place = opened.leaf if at is None else opened.resolve(at)
        if json:
            print_json(_value(opened, view, place))
        elif timed is not None:
            _play(_path(opened, place), view, timed)
        else:
            print_lines(_lines(opened, view, place))
        known = set(opened.tree) if follow else set()
        path = opened.path
        spoken = follow and any(True for _ in _lines(opened, view, place))
    return _follow(path, view, known, spoken) if follow and path is not None else 0


def model_messages(session: Session, at: EntryId | None) -> list[JsonObject]:
    """The chat-completions messages of the next request from there, without its prompt."""
    branch = session.live() if at == session.leaf else session.live(at)
    context = project(branch)
    model = context.model or ModelRef("", "")
    target = Target(model.provider, model.model, context.thinking, _shape(branch))
    return wire_messages(step_request(context, target).request)


def _shape(branch: Branch) -> Shape:
    """How the last request on the path was spelled; the next one will be, too."""
    for entry in reversed(branch.entries):
        if isinstance(entry.body, Custom):
            fact = decode_fact(entry.body)
            if isinstance(fact, RequestSent) and fact.kind == "step":
                return from_json(fact.shape)
    return Shape()


def _path(session: Session, at: EntryId | None) -> tuple[Entry, ...]:
    """Root → there; at the leaf with what would close an interrupted turn."""
    branch = session.branch() if at == session.leaf else session.branch(at)
    return branch.entries


def _raw(session: Session) -> Iterator[bytes]:
    """Every entry's line, in file order."""
    for entry in session.tree:
        yield session.raw(entry)


def _value(session: Session, view: str, at: EntryId | None) -> JsonObject:
    head: JsonObject = {"session": session.header.id, "leaf": at}
    match view:
        case "chat":
            return head | {"messages": chat_view(_path(session, at))}
        case "trace":
            return head | {"events": trace_view(_path(session, at))}
        case "model":
            messages: list[JsonValue] = [*model_messages(session, at)]
            return head | {"messages": messages}
        case _:
            header = jsontext.loads(encode_header(session.header))
            return head | {"header": header, "entries": [*raw_view(_raw(session))]}


def _lines(session: Session, view: str, at: EntryId | None) -> Iterator[str]:
    match view:
        case "chat":
            return chat_lines(_path(session, at))
        case "trace":
            return trace_lines(_path(session, at))
        case "model":
            return _model_lines(session, at)
        case _:
            return raw_lines([encode_header(session.header).rstrip(b"\n"), *_raw(session)])


def _model_lines(session: Session, at: EntryId | None) -> Iterator[str]:
    """One message a line, as JSON; controls are escaped in it, the rest is made safe."""
    for message in model_messages(session, at):
        yield safe_text(jsontext.dumps_text(message))


def _play(entries: tuple[Entry, ...], view: str, speed: float) -> None:
    """As it happened: the pauses of then, so many times as fast."""
    from agentsh.ui.pacing import paced

    owed, spoken = 0.0, False
    for wait, entry in paced(entries, speed):
        owed += wait
        lines = list(chat_lines([entry]) if view == "chat" else trace_lines([entry]))
        if not lines:
            continue
        time.sleep(owed)
        print_lines(_apart(lines, view, spoken))
        owed, spoken = 0.0, True


def _follow(path: Path, view: str, known: set[EntryId], spoken: bool) -> NoReturn:
    """Print what is appended, until the person stops it or the reader goes away.

    `spoken`: something was printed before.
    """
    size = -1
    while True:
        try:
            now = path.stat().st_size
        except OSError as e:
            raise SessionNotFoundError(f"{path} is gone: {e.strerror}", path=str(path)) from e
        if now != size:
            with open_session(path, write=False) as session:
                if now < size:
                    # a batch that could not be made durable was cut off; what comes in its place
                    # may have its ids
                    known &= set(session.tree)
                fresh = [entry for entry in session.tree if entry not in known]
                known.update(fresh)
                lines = list(_fresh_lines(session, view, fresh))
                print_lines(_apart(lines, view, spoken))
                spoken = spoken or bool(lines)
            size = now
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _apart(lines: list[str], view: str, spoken: bool) -> list[str]:
    """In the chat an empty line stands before what is said after something else."""
    return ["", *lines] if lines and spoken and view == "chat" else lines


def _fresh_lines(session: Session, view: str, fresh: list[EntryId]) -> Iterator[str]:
    entries = [session.entry(entry) for entry in fresh]
    match view:
        case "chat":
            return chat_lines(entries)
        case "trace":
            return trace_lines(entries)
        case _:
            return raw_lines([session.raw(entry) for entry in fresh])
