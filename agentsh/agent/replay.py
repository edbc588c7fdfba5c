"""Every request that reached the model, rebuilt from the file alone (R33, R47).

For each `agentsh.request` fact: the projection at its leaf, its frozen shape and plan, the same
code that made the body then. The digests must agree. It sends nothing and writes nothing.
`verifier` does so for each request just before it is sent: a debug switch, on in all tests.
Read next: requests.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from agentsh.agent.requests import rebuild
from agentsh.context.projection import project
from agentsh.errors import EntryNotFoundError
from agentsh.providers.dialects import from_json
from agentsh.session.entries import Custom, Entry, EntryId, MessageBody
from agentsh.session.factcodec import decode_fact
from agentsh.session.facts import RequestSent
from agentsh.session.session import Session, open_session


class Recorded(Struct, frozen=True):
    """One request on record; `reply` is the entry that answered it (None: failed, or a crash)."""

    entry: EntryId
    fact: RequestSent
    reply: EntryId | None


class Mismatch(Struct, frozen=True):
    """A request whose body can no longer be rebuilt, and why."""

    entry: EntryId
    words: str


def recorded(session: Session) -> tuple[Recorded, ...]:
    """All requests of the file, in the order of sending."""
    facts: dict[EntryId, RequestSent] = {}
    replies: dict[EntryId, EntryId] = {}
    for entry in session.entries():
        fact = _request(entry)
        if fact is not None:
            facts[entry.id] = fact
        elif entry.stamp is not None and entry.stamp.request is not None:
            replies[entry.stamp.request] = entry.id
    return tuple(Recorded(i, fact, replies.get(i)) for i, fact in facts.items())


def find(session: Session, word: EntryId) -> Recorded:
    """The request with this id, or the one that this entry answered. Raises EntryNotFoundError."""
    for item in recorded(session):
        if word in (item.entry, item.reply):
            return item
    raise EntryNotFoundError(f"{word} is neither a recorded request nor the reply to one")


def body(session: Session, item: Recorded) -> bytes:
    """The bytes of a recorded request, from the entries alone."""
    context = project(session.live(item.fact.leaf, repaired=False))
    return rebuild(context, item.fact, from_json(item.fact.shape)).body


def check(session: Session) -> Iterator[Mismatch]:
    """Rebuild all, and tell of each that came out otherwise."""
    for item in recorded(session):
        words = _difference(session, item.entry, item.fact)
        if words is not None:
            yield Mismatch(item.entry, words)


def verifier(path: Path) -> Callable[[EntryId], None]:
    """For `Agent(verify=…)`: each request is rebuilt from the disk in a session of its own (R47).

    What it gives raises AssertionError: something reached a body that is in no entry.
    """

    def verify(request: EntryId) -> None:
        with open_session(path, write=False) as session:
            fact = _request(session.entry(request))
            assert fact is not None, f"request {request} is not on the disk"
            words = _difference(session, request, fact)
            assert words is None, words

    return verify


def _difference(session: Session, entry: EntryId, fact: RequestSent) -> str | None:
    """How the rebuilt body differs from what was sent; None: it does not."""
    try:
        context = project(session.live(fact.leaf, repaired=False))
        prepared = rebuild(context, fact, from_json(fact.shape))
    except (ValueError, KeyError, TypeError, EntryNotFoundError) as e:
        return f"request {entry}: its body cannot be rebuilt: {e}"
    if prepared.sha256 == fact.body_sha256:
        return None
    sent, now = fact.body_bytes, len(prepared.body)
    return f"request {entry}: {sent} bytes were sent, {now} others are rebuilt"


def _request(entry: Entry) -> RequestSent | None:
    if isinstance(entry.body, MessageBody) or not isinstance(entry.body, Custom):
        return None
    fact = decode_fact(entry.body)
    return fact if isinstance(fact, RequestSent) else None
