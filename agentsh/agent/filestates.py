"""Which recorded state of the working files belongs to an entry, and whose changes came since.

Pure over a session's tree and its checkpoint facts; no git here. The state at an entry is the next
one recorded below it with nothing of the agent's in between (so it holds what the person did before
the agent went on), else the last one above it. A move that did not bring files along is no evidence
of either. Read next: checkpoints.py, session/facts.py (Checkpoint).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from agentsh.session.entries import Custom, EntryId
from agentsh.session.factcodec import decode_fact
from agentsh.session.facts import Checkpoint, Fact, Navigated, ToolStarted
from agentsh.session.session import Session

# the spellings that a line must hold to be one of the facts looked for; spares decoding all others
_MARKS = (b'"agentsh.checkpoint"', b'"agentsh.tool"', b'"agentsh.nav"')


class FileState(Struct, frozen=True):
    """A recorded state. `exact`: nothing that changes files lies between it and the entry."""

    entry: EntryId
    fact: Checkpoint
    exact: bool


def state_at(session: Session, place: EntryId | None) -> FileState | None:
    """The state that belongs to an entry (None: before the first); None: none is recorded."""
    return _below(session, place) or _above(session, place)


def timeline(session: Session, since: EntryId | None = None) -> tuple[Checkpoint, ...]:
    """The checkpoints of the whole file from that one on, in the order in which they were taken."""
    tree = session.tree
    first = 0 if since is None else tree.number(since)
    facts = (_fact(session, entry) for entry in tree if tree.number(entry) >= first)
    return tuple(fact for fact in facts if isinstance(fact, Checkpoint))


def has_changed(session: Session) -> bool:
    """Whether the agent ever began something that may change files."""
    return any(_changes(_fact(session, entry)) for entry in session.tree)


def _below(session: Session, place: EntryId | None) -> FileState | None:
    tree = session.tree
    found: list[tuple[int, FileState]] = []
    waiting = list(tree.children(place))
    while waiting:
        entry = waiting.pop()
        fact = _fact(session, entry)
        if isinstance(fact, Checkpoint):
            found.append((tree.number(entry), FileState(entry, fact, True)))
        elif not (_changes(fact) or isinstance(fact, Navigated)):
            waiting.extend(tree.children(entry))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _above(session: Session, place: EntryId | None) -> FileState | None:
    exact = True
    for entry in _upwards(session, place):
        fact = _fact(session, entry)
        if isinstance(fact, Checkpoint):
            return FileState(entry, fact, exact)
        exact = exact and not (_changes(fact) or isinstance(fact, Navigated))
    return None


def _upwards(session: Session, place: EntryId | None) -> Iterator[EntryId]:
    tree = session.tree
    while place is not None:
        yield place
        place = tree.parent(place)


def _changes(fact: Fact | None) -> bool:
    return isinstance(fact, ToolStarted) and fact.effect != "read"


def _fact(session: Session, entry: EntryId) -> Fact | None:
    """The fact of an entry, if it is one of those that matter here."""
    if session.tree.kind(entry) != "custom":
        return None
    raw = session.raw(entry)
    if not any(mark in raw for mark in _MARKS):
        return None
    body = session.entry(entry).body
    return decode_fact(body) if isinstance(body, Custom) else None
