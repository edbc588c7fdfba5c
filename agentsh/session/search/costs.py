"""What each request took: the usages in a session file, summaries and titles included.

A fork holds copies of its parent's entries. They keep the stamp of the session that wrote them, so
that they are told apart: what was spent is counted once, in the session that spent it, while a
limit of a session counts all that is in its file. Lines are found by their bytes, not decoded.
Read next: costgroups.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from agentsh.jsontext import JsonError, JsonObject, JsonValue
from agentsh.messages import Usage, own_details
from agentsh.session.format.blockcodec import decode_usage
from agentsh.session.format.entries import EntryId
from agentsh.session.format.ids import short_id
from agentsh.session.format.junk import loads_record
from agentsh.session.format.linehead import envelope_of


class Charge(Struct, frozen=True):
    """One request's usage. `origin`: short id of the session that stamped it, "" where none did."""

    entry: EntryId
    parent: EntryId | None
    time: str
    usage: Usage
    model: str = ""
    kind: str = "answer"
    origin: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The same for every copy of it."""
        return (self.entry, self.time)

    def is_copy(self, session: str) -> bool:
        """Whether another session than that one stamped it."""
        return self.origin not in ("", short_id(session))


class Sum(Struct, frozen=True):
    """Usages added up, and of how many requests."""

    usage: Usage = Usage()
    requests: int = 0
    unpriced: int = 0
    """Of the requests, those whose tokens cost nothing: no price was known, or they were free."""

    def plus(self, usage: Usage) -> Sum:
        is_unpriced = usage.cost.total == 0
        return Sum(self.usage + usage, self.requests + 1, self.unpriced + is_unpriced)

    def with_others(self, other: Sum) -> Sum:
        """Those of both."""
        return Sum(
            self.usage + other.usage,
            self.requests + other.requests,
            self.unpriced + other.unpriced,
        )


def total(charges: Iterable[Charge]) -> Sum:
    sum_ = Sum()
    for charge in charges:
        sum_ = sum_.plus(charge.usage)
    return sum_


def charges_of(lines: Iterable[bytes]) -> Iterator[Charge]:
    """The charges in lines of one file; of two with one id the first counts."""
    seen: set[str] = set()
    for line in lines:
        charge = read_charge(line)
        if charge is not None and charge.entry not in seen:
            seen.add(charge.entry)
            yield charge


def read_charge(line: bytes) -> Charge | None:
    """None for a line that cost nothing. Never raises."""
    if b'"usage"' not in line:
        return None
    try:
        value = loads_record(line)
    except JsonError:
        return None
    said = envelope_of(value)
    if not said.id:
        return None
    kind, holder = _holder(value)
    if not isinstance(holder.get("usage"), dict):
        return None
    usage = decode_usage(holder["usage"])
    if usage == Usage():
        return None
    model = holder.get("model") or (own_details(value.get("details")) or {}).get("model")
    return Charge(
        entry=EntryId(said.id),
        parent=None if said.parent is None else EntryId(said.parent),
        time=said.time,
        usage=usage,
        model=_string(model),
        kind=kind,
        origin=said.session,
    )


def _holder(value: JsonObject) -> tuple[str, JsonObject]:
    """What a charge is for, and the object that has the usage."""
    match value.get("type"):
        case "message":
            return "answer", _object(value.get("message"))
        case "compaction" | "branch_summary" as kind:
            return str(kind), value
        case "usage":
            return _string(value.get("kind")) or "usage", value
        case _:
            return "", {}


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _string(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
