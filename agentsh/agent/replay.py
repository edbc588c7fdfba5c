"""Every request that reached the model, rebuilt from the file alone (R33, R47).

For each `agentsh.request` fact: the projection at its leaf, its frozen shape and plan, the same
code that made the body then. The digests must agree. It sends nothing and writes nothing.
`verifier` does so for each request just before it is sent: a debug switch, on in all tests.
Read next: agent/turn/requests.py, agent/summaries/requests.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import assert_never

from msgspec import Struct

from agentsh.agent.summaries.requests import summary_request
from agentsh.agent.turn.requests import (
    Prepared,
    Target,
    aside_request,
    schema_request,
    step_request,
)
from agentsh.context.projection import Context, project
from agentsh.errors import EntryNotFoundError
from agentsh.jsontext import JsonObject
from agentsh.providers.api.dialects import from_json
from agentsh.providers.base import Shape
from agentsh.session.file.session import Session, open_session
from agentsh.session.format.entries import Custom, Entry, EntryId, MessageBody
from agentsh.session.format.factcodec import decode_fact
from agentsh.session.format.facts import RequestSent


class Recorded(Struct, frozen=True):
    """One request on record.

    `reply` is the entry that answered it, None after a failure or a crash.
    """

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


def find_request(session: Session, word: EntryId) -> Recorded:
    """The request with this id, or the one that this entry answered. Raises EntryNotFoundError."""
    for item in recorded(session):
        if word in (item.entry, item.reply):
            return item
    raise EntryNotFoundError(f"{word} is neither a recorded request nor the reply to one")


def body(session: Session, item: Recorded) -> bytes:
    """The bytes of a recorded request, from the entries alone."""
    context = project(session.live(item.fact.leaf, repaired=False))
    return rebuild(context, item.fact, from_json(item.fact.shape)).body


def rebuild(context: Context, fact: RequestSent, shape: Shape) -> Prepared:
    """What was sent, from the projection at the fact's leaf."""
    target = Target(fact.provider, fact.model, fact.thinking, shape, fact.max_tokens, fact.builder)
    match fact.kind:
        case "step":
            return step_request(context, target)
        case "aside":
            return aside_request(context, target, str((fact.plan or {})["question"]))
        case "schema":
            return schema_request(context, target, _schema_of(fact))
        case "compaction" | "branch" | "title":
            return summary_request(context, target, fact.kind, fact.plan or {})
        case _:
            assert_never(fact.kind)


def _schema_of(fact: RequestSent) -> JsonObject:
    """Raises TypeError: the plan of the fact has none."""
    schema = (fact.plan or {}).get("schema")
    if not isinstance(schema, dict):
        raise TypeError("the plan has no schema")
    return schema


def check(session: Session) -> Iterator[Mismatch]:
    """Rebuild all, and tell of each that came out otherwise."""
    for item in recorded(session):
        difference = _difference(session, item.entry, item.fact)
        if difference is not None:
            yield Mismatch(item.entry, difference)


def verifier(path: Path) -> Callable[[EntryId], None]:
    """For `Agent(verify=…)`: each request is rebuilt from the disk in a session of its own (R47).

    What it gives raises AssertionError: something reached a body that is in no entry.
    """

    def verify(request: EntryId) -> None:
        with open_session(path, write=False) as session:
            fact = _request(session.entry(request))
            assert fact is not None, f"request {request} is not on the disk"
            difference = _difference(session, request, fact)
            assert difference is None, difference

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
