"""Every request that reached the model, rebuilt from the file alone (R33, R47).

For each `agentsh.request` fact: the projection at its leaf, its frozen shape and plan, the same
code that made the body then. The digests must agree. It sends nothing and writes nothing.
Read next: requests.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from agentsh.agent.requests import rebuild
from agentsh.context.projection import project
from agentsh.errors import EntryNotFoundError
from agentsh.providers.dialects import from_json
from agentsh.session.entries import Custom, Entry, EntryId, MessageBody
from agentsh.session.factcodec import decode_fact
from agentsh.session.facts import RequestSent
from agentsh.session.session import Session


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
        prepared = rebuild(
            project(session.live(item.fact.leaf, repaired=False)),
            item.fact,
            from_json(item.fact.shape),
        )
        if prepared.sha256 != item.fact.body_sha256:
            yield Mismatch(
                item.entry,
                f"request {item.entry}: {item.fact.body_bytes} bytes were sent,"
                f" {len(prepared.body)} others are rebuilt",
            )


def _request(entry: Entry) -> RequestSent | None:
    if isinstance(entry.body, MessageBody) or not isinstance(entry.body, Custom):
        return None
    fact = decode_fact(entry.body)
    return fact if isinstance(fact, RequestSent) else None
