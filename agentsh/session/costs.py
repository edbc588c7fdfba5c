"""What each request took: the usages in a session file, summaries and titles included.

A fork holds copies of its parent's entries. They keep the stamp of the session that wrote them, so
that they are told apart: what was spent is counted once, in the session that spent it, while a
limit of a session counts all that is in its file. Lines are found by their bytes, not decoded.
Read next: costgroups.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from agentsh.jsontext import JsonError, JsonObject, JsonValue, loads_object
from agentsh.messages import Cost, Usage
from agentsh.session.blockcodec import decode_usage
from agentsh.session.entries import EntryId
from agentsh.session.ids import short_id


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


def added(a: Usage, b: Usage) -> Usage:
    return Usage(
        a.input + b.input,
        a.output + b.output,
        a.cache_read + b.cache_read,
        a.cache_write + b.cache_write,
        a.total_tokens + b.total_tokens,
        a.reasoning + b.reasoning,
        Cost(
            a.cost.input + b.cost.input,
            a.cost.output + b.cost.output,
            a.cost.cache_read + b.cost.cache_read,
            a.cost.cache_write + b.cost.cache_write,
            a.cost.total + b.cost.total,
        ),
    )


class Sum(Struct, frozen=True):
    """Usages added up, and of how many requests."""

    usage: Usage = Usage()
    requests: int = 0

    def plus(self, usage: Usage) -> Sum:
        return Sum(added(self.usage, usage), self.requests + 1)


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
        value = loads_object(line)
    except JsonError:
        return None
    entry = value.get("id")
    if not isinstance(entry, str) or not entry:
        return None
    kind, holder = _holder(value)
    if not isinstance(holder.get("usage"), dict):
        return None
    usage = decode_usage(holder["usage"])
    if usage == Usage():
        return None
    parent, stamp = value.get("parentId"), _object(value.get("ash"))
    model = holder.get("model") or _object(_object(value.get("details")).get("ash")).get("model")
    return Charge(
        entry=EntryId(entry),
        parent=EntryId(parent) if isinstance(parent, str) else None,
        time=_string(value.get("timestamp")),
        usage=usage,
        model=_string(model),
        kind=kind,
        origin=_string(stamp.get("s")),
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
