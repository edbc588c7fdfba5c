"""Which recorded state of the working files belongs to an entry, and whose changes came since.

Pure over a session's tree and its checkpoint facts; no git here. The state at an entry is the next
one recorded below it with nothing of an agent's in between (so it holds what the person did before
the agent went on), else the last one above it. Calls of another program count, too: what has no
start on our record is known by its result. A move that did not bring files along is no evidence
of either. Read next: checkpoints.py, session/format/facts.py (Checkpoint).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct

from agentsh.jsontext import JsonObject
from agentsh.messages import ToolResultMessage
from agentsh.session.file.session import Session
from agentsh.session.format.entries import Custom, EntryId, MessageBody
from agentsh.session.format.factcodec import decode_fact, names_of
from agentsh.session.format.facts import Checkpoint, Fact, Navigated, ToolStarted
from agentsh.tools.base import PreImage

# the spellings that a line must hold to be one of the facts looked for; spares decoding all others
_MARKS: Mapping[str, tuple[bytes, ...]] = {
    "custom": tuple(f'"{name}"'.encode() for name in names_of(Checkpoint, ToolStarted, Navigated)),
    "message": (b'"toolResult"',),
}
_READING = frozenset(("read", "grep", "find", "ls"))
"""Tools of other programs, by name, that change no files."""

_MOST_OF_A_MOVE = 64
"""Entries that a move may write before the leaf is moved: a summary's request, its usage …"""

_Found: TypeAlias = Fact | ToolResultMessage | None


class FileState(Struct, frozen=True):
    """A recorded state. `exact`: nothing that changes files lies between it and the entry."""

    entry: EntryId
    fact: Checkpoint
    exact: bool


class Calls(Struct, frozen=True):
    """`overwritten`: each file as it was before its first write there.

    `ran`: whether a command ran, of which no record says what it changed.
    """

    overwritten: tuple[PreImage, ...]
    ran: bool


def state_at(session: Session, entry: EntryId | None) -> FileState | None:
    """The state that belongs to an entry (None: before the first), or None if none is recorded."""
    return _below(session, entry) or _above(session, entry)


def state_wanted(session: Session, restored: EntryId) -> FileState | None:
    """The state that a move restored. `restored`: the checkpoint that records it.

    None: no move led there (only the files went back), or nothing was recorded for that place.
    """
    tree = session.tree
    for entry in _upwards(session, tree.parent(restored)):
        fact = _fact(session, entry)
        if isinstance(fact, Navigated):
            target, limit = tree.parent(entry), _left_before(session, entry)
            return _below(session, target, limit) or _above(session, target)
        if isinstance(fact, Checkpoint) or tree.kind(entry) == "message":
            return None
    return None


def _left_before(session: Session, move: EntryId) -> int:
    """The number of what a move found done: all before the record of what it was about to leave."""
    tree = session.tree
    number = tree.number(move)
    for each in range(number - 1, max(number - _MOST_OF_A_MOVE, -1), -1):
        fact = _fact(session, tree.at(each))
        if isinstance(fact, Checkpoint):
            return each if fact.when == "left" else number
    return number


def timeline(session: Session, since: EntryId | None = None) -> tuple[Checkpoint, ...]:
    """The checkpoints of the whole file from that one on, in the order in which they were taken."""
    tree = session.tree
    first = 0 if since is None else tree.number(since)
    facts = (_fact(session, entry) for entry in tree if tree.number(entry) >= first)
    return tuple(fact for fact in facts if isinstance(fact, Checkpoint))


def calls_since(session: Session, first: EntryId, last: EntryId | None = None) -> Calls:
    """What calls of the agent overwrote between two places of the file, in its order."""
    tree = session.tree
    low, high = sorted((tree.number(first), len(tree) if last is None else tree.number(last)))
    overwritten: dict[str, PreImage] = {}
    ran = False
    for entry in tree:
        fact = _fact(session, entry) if low < tree.number(entry) <= high else None
        if isinstance(fact, ToolStarted):
            ran = ran or fact.effect not in ("read", "write")
            for image in fact.pre_images if fact.effect == "write" else ():
                before = _pre_image(image)
                if before is not None:
                    overwritten.setdefault(before.path, before)
    return Calls(tuple(overwritten.values()), ran)


def _pre_image(image: JsonObject) -> PreImage | None:
    """A session file may be a stranger's: what does not fit is no record of a file."""
    path, digest, size = image.get("path"), image.get("sha256"), image.get("size")
    if not isinstance(path, str) or not path.startswith("/") or "\0" in path:
        return None
    if not (digest is None or isinstance(digest, str)) or not isinstance(size, int):
        return None
    return PreImage(path, digest, size)


def has_changed(session: Session) -> bool:
    """Whether the agent ever began something that may change files."""
    return any(_changes(_fact(session, entry)) for entry in session.tree)


def _below(session: Session, top: EntryId | None, limit: int | None = None) -> FileState | None:
    tree = session.tree
    states: list[tuple[int, FileState]] = []
    waiting = list(tree.children(top))
    while waiting:
        entry = waiting.pop()
        if limit is not None and tree.number(entry) >= limit:
            continue
        fact = _fact(session, entry)
        if isinstance(fact, Checkpoint):
            states.append((tree.number(entry), FileState(entry, fact, True)))
        elif not (_changes(fact) or isinstance(fact, Navigated)):
            waiting.extend(tree.children(entry))
    return min(states, key=lambda pair: pair[0])[1] if states else None


def _above(session: Session, start: EntryId | None) -> FileState | None:
    exact = True
    for entry in _upwards(session, start):
        fact = _fact(session, entry)
        if isinstance(fact, Checkpoint):
            return FileState(entry, fact, exact)
        exact = exact and not (_changes(fact) or isinstance(fact, Navigated))
    return None


def _upwards(session: Session, entry: EntryId | None) -> Iterator[EntryId]:
    tree = session.tree
    while entry is not None:
        yield entry
        entry = tree.parent(entry)


def _changes(fact: _Found) -> bool:
    """Whether it may have changed files: a tool of ours, or a result that we have no start of."""
    match fact:
        case ToolStarted():
            return fact.effect != "read"
        case ToolResultMessage():
            return fact.tool_name not in _READING
        case _:
            return False


def _fact(session: Session, entry: EntryId) -> _Found:
    """The fact of an entry, or the result of a call that another program made, if it matters."""
    marks = _MARKS.get(session.tree.kind(entry), ())
    if not marks:
        return None
    raw = session.raw(entry)
    if not any(mark in raw for mark in marks):
        return None
    stored = session.entry(entry)
    match stored.body:
        case Custom():
            return decode_fact(stored.body)
        case MessageBody(ToolResultMessage() as result) if stored.stamp is None:
            return result
        case _:
            return None
