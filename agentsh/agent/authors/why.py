"""Who wrote each line of a file, by the records of the sessions that worked in its folder.

Exact or silent: what nobody can tell is "unknown". Reads the stores of states and nothing else; the
sessions' records and the file's bytes are handed in. How it reads is ui/text/authors.py's. Read
next: timeline.py, tracing.py, statefiles.py.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agentsh.agent.authors.calls import BEFORE, UNKNOWN, Author, Who
from agentsh.agent.authors.content import Content
from agentsh.agent.authors.statefiles import StateFiles, Stores
from agentsh.agent.authors.timeline import Past
from agentsh.agent.authors.tracing import Tracer, Version, unknown
from agentsh.agent.authors.witness import Witness
from agentsh.errors import ToolFailedError
from agentsh.tools.undo.contents import StoreContents, blob_name

_DOUBT: Final[tuple[Who, ...]] = ("unknown", "person", "before")


class AuthoredLine(Struct, frozen=True):
    """`number` counts from 1; `text` is without its end."""

    number: int
    text: str
    author: Author


class Origins(Struct, frozen=True):
    """Who wrote the lines of a file. `notices`: what limits the answer, in words.

    `is_on_record`: any session of the folder, or a state of it, tells of the file. `has_states`:
    nothing limits it; else only calls of `edit` and `write` are known.
    """

    lines: tuple[AuthoredLine, ...]
    notices: tuple[str, ...] = ()
    is_on_record: bool = True
    has_states: bool = True


def origins(
    name: str,
    data: bytes,
    records: Sequence[Witness],
    stores: Stores,
    tree: Path,
    *,
    only: str | None = None,
    is_complete: bool = True,
) -> Origins:
    """Who wrote the lines of a file. `name` is relative to `tree`, or absolute outside of it.

    `only`: ask that session alone.

    `is_complete` False: there are sessions that could not be asked, so that nobody knows what a
    person did.
    """
    content = Content(data)
    past = Past(records)
    files = StateFiles(stores, tree)
    try:
        authors, notices, is_on_record = _found(name, content, past, files)
    except ToolFailedError as e:
        files = StateFiles(_NoStores(), tree)
        authors, notices, is_on_record = _found(name, content, past, files)
        notices = (f"the recorded states of the files cannot be read: {e}", *notices)
    removed = {record.session for record in records if record.is_removed}
    authors = [_told(author, removed, is_complete=is_complete) for author in authors]
    if only is not None:
        authors = [_by(author, only, _begin_of(only, records)) for author in authors]
    texts = (line.decode("utf-8", "replace") for line in content.lines())
    rows = zip(texts, authors, strict=True)
    return Origins(
        tuple(AuthoredLine(i, text, author) for i, (text, author) in enumerate(rows, 1)),
        notices,
        is_on_record,
        not notices,
    )


def joined_lines(answers: Sequence[Origins]) -> tuple[AuthoredLine, ...]:
    """The lines of a file by the records of several folders, whose sessions know not of each other.

    A call wins that one of them knows; of calls in two at the same time, nobody knows which it was.
    Else those decide that have states of the file, and a person wrote only what none of them
    doubts.
    """
    judges = [answer for answer in answers if answer.has_states] or answers[:1]
    lines = zip(*(answer.lines for answer in answers), strict=True)
    judged = zip(*(answer.lines for answer in judges), strict=True)
    return tuple(map(_joined_line, lines, judged))


def _joined_line(each: Sequence[AuthoredLine], judged: Sequence[AuthoredLine]) -> AuthoredLine:
    claims = [line for line in each if line.author.calls]
    match claims:
        case [line]:
            return line
        case []:
            return min(judged, key=lambda line: _DOUBT.index(line.author.who))
        case _:
            return replace(claims[0], author=UNKNOWN)


def tells_more(answer: Origins, others: Sequence[Origins]) -> bool:
    """Whether it names calls where none of the others does; or there is no other."""
    lines = zip(*(each.lines for each in others), strict=True) if others else ()
    has_calls = [any(line.author.calls for line in each) for each in lines]
    return not others or any(
        line.author.calls and not has_call
        for line, has_call in zip(answer.lines, has_calls, strict=True)
    )


class _NoStores(Struct, frozen=True):
    def has(self, store: str) -> bool:
        return not store

    def contents(self, store: str) -> StoreContents:
        raise ToolFailedError(f"the store {store} is not there")


def _found(
    name: str, content: Content, past: Past, files: StateFiles
) -> tuple[list[Author], tuple[str, ...], bool]:
    assert content.data is not None
    version = Version(blob_name(content.data), len(content.data))
    tracer = Tracer(past, files, content, version)
    authors = tracer.authors(name)
    if not any(author.who == "agent" for author in authors) and not tracer.is_on_record(name):
        told = f"no session of this folder touched {name}: who wrote it is on no record"
        return unknown(content), (told,), False
    return authors, _limits(name, past, files, is_held=tracer.is_held(name)), True


def _limits(name: str, past: Past, files: StateFiles, *, is_held: bool) -> tuple[str, ...]:
    """What keeps the states from saying more."""
    calls_only = "only what edit and write calls did to it is known"
    if name.startswith("/"):
        return (f"no states are recorded of {name}, which is outside of the folder: {calls_only}",)
    last = past.states[-1:]
    if not last:
        return (f"no states of the files are on record: {calls_only}",)
    if last[0].fact.store in files.lost:
        return (f"the recorded states are gone, or on another machine: {calls_only}",)
    if not is_held:
        return (f"no states are recorded of {name} (ignored, or over 5 MB): {calls_only}",)
    return ()


def _told(author: Author, removed: Collection[str], *, is_complete: bool) -> Author:
    """What was removed is told no more, and nobody else is named for it."""
    if author.who == "agent":
        return UNKNOWN if any(call.session in removed for call in author.calls) else author
    return author if is_complete else UNKNOWN


def _begin_of(session: str, records: Sequence[Witness]) -> str:
    """When a session's record begins."""
    return next((r.events[0].time for r in records if r.session == session and r.events), "")


def _by(author: Author, session: str, begin: str) -> Author:
    """What one session's record alone says of it."""
    if author.who != "agent" or all(call.session == session for call in author.calls):
        return author
    return BEFORE if all(call.time < begin for call in author.calls) else UNKNOWN
