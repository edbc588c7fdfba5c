"""Our facts ↔ `custom` entries named `agentsh.*`: one table, read in both directions.

A row says for each field of a fact where its member lies in `data` (dots go into an object) and
what may stand there. Absent, null and the default are one. Data that do not fit are no fact: None,
never an error. `refusal` says when a fact forbids appending (R44): newer `v`, or unknown and
required.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, get_args

from msgspec import NODEFAULT as MISSING
from msgspec import Struct
from msgspec.structs import fields

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.session import facts as f
from agentsh.session.entries import Custom

PREFIX = "agentsh."
VERSION = 1

# What a member holds → what the field gets. Raises ValueError or TypeError where it does not fit.
Reader: TypeAlias = Callable[[JsonValue], Any]


class _Row(Struct, frozen=True):
    name: str
    make: Callable[..., f.Fact]
    event: str | None
    members: Mapping[str, tuple[str, Reader]]
    """field → (member, reader)"""


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: JsonValue) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError
    return value


def _seconds(value: JsonValue) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError
    return float(value)


def _object(value: JsonValue) -> JsonObject:
    if not isinstance(value, dict):
        raise TypeError
    return value


def _objects(value: JsonValue) -> tuple[JsonObject, ...]:
    if not isinstance(value, list):
        raise TypeError
    return tuple(_object(item) for item in value)


def _texts(value: JsonValue) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError
    return tuple(_text(item) for item in value)


def _anything(value: JsonValue) -> JsonValue:
    return value


def _word(alias: Any) -> Reader:
    words = frozenset(get_args(alias))

    def read(value: JsonValue) -> str:
        if value not in words:
            raise ValueError
        return _text(value)

    return read


def _row(
    name: str,
    make: Callable[..., f.Fact],
    event: str | None = None,
    /,
    **members: tuple[str, Reader],
) -> _Row:
    return _Row(PREFIX + name, make, event, members)


def _words(*words: str) -> Reader:
    def read(value: JsonValue) -> str:
        if value not in words:
            raise ValueError
        return _text(value)

    return read


_ROWS: tuple[_Row, ...] = (
    _row(
        "session",
        f.Origin,
        session_id=("sessionId", _text),
        created_by=("createdBy", _text),
        origin=("origin", _words("user", "fork", "subagent", "import", "repair")),
        depth=("depth", _number),
        parent=("parent", _object),
        seed=("seed", _object),
    ),
    _row(
        "open",
        f.Opened,
        reason=("reason", _words("resume", "fork", "repair", "import")),
        pid=("pid", _number),
        host=("host", _text),
        version=("version", _text),
        lines=("lines", _number),
        prefix=("prefix", _text),
    ),
    _row("turn", f.TurnStarted, "start", number=("no", _number)),
    _row(
        "turn",
        f.TurnEnded,
        "end",
        start=("start", _text),
        reason=("reason", _words(*get_args(f.TurnEndReason))),
        error=("error", _text),
    ),
    _row(
        "request",
        f.RequestSent,
        turn=("turn", _number),
        attempt=("attempt", _number),
        reason=("reason", _words(*get_args(f.RequestReason))),
        kind=("kind", _words("step", "compaction", "branch", "title")),
        leaf=("ctx.leaf", _text),
        messages=("ctx.messages", _number),
        body_sha256=("body.sha256", _text),
        body_bytes=("body.bytes", _number),
        endpoint=("header.endpoint", _text),
        provider=("header.provider", _text),
        api=("header.api", _text),
        model=("header.model", _text),
        thinking=("header.thinking", _text),
        shape=("header.shape", _object),
        max_tokens=("header.maxTokens", _number),
        snapshot=("ctx.snapshot", _text),
        plan=("plan", _object),
        builder=("builder", _number),
    ),
    _row(
        "attempt",
        f.AttemptEnded,
        request=("request", _text),
        error=("error", _text),
        status=("status", _number),
        wait_seconds=("wait", _seconds),
    ),
    _row(
        "tool",
        f.ToolStarted,
        "start",
        call_id=("callId", _text),
        name=("name", _text),
        arguments=("args", _text),
        effect=("effect", _words(*get_args(f.Effect))),
        key=("key", _text),
        attempt=("attempt", _number),
        pre_images=("pre", _objects),
        expected=("expected", _objects),
        process=("process", _object),
        approval=("approval", _text),
    ),
    _row(
        "tool",
        f.ToolProcess,
        "process",
        call_id=("callId", _text),
        pgid=("pgid", _number),
        start=("start", _number),
        boot=("boot", _text),
        spool=("spool", _text),
    ),
    _row(
        "approval",
        f.ApprovalAsked,
        "asked",
        call_id=("callId", _text),
        tool=("tool", _text),
        shown=("shown", _text),
    ),
    _row(
        "approval",
        f.ApprovalDecided,
        "decided",
        call_id=("callId", _text),
        outcome=("outcome", _words("once", "session", "rule", "no")),
        by=("by", _words("user", "policy")),
        rule=("rule", _text),
        reason=("reason", _text),
    ),
    *(
        _row(
            "inbox",
            f.InboxChanged,
            event,
            event=("ev", _words(event)),
            message_id=("mid", _text),
            kind=("kind", _words("steer", "follow-up")),
            text=("text", _text),
        )
        for event in ("queued", "taken", "dropped")
    ),
    _row(
        "nav",
        f.Navigated,
        origin=("from", _text),
        reason=("reason", _words("tree", "undo", "switch", "fork")),
    ),
    *(
        _row(
            "compaction",
            f.CompactionMark,
            event,
            event=("ev", _words(event)),
            error=("error", _text),
        )
        for event in ("start", "end")
    ),
    _row(
        "repair",
        f.Repaired,
        closed=("closed", _texts),
        torn_line=("torn.line", _number),
        torn_bytes=("torn.bytes", _number),
        evidence=("evidence", _object),
    ),
    _row(
        "checkpoint",
        f.Checkpoint,
        commit=("commit", _text),
        store=("store", _text),
        left_out=("leftOut", _number),
        when=("when", _words(*get_args(f.CheckpointTime))),
    ),
    _row("state", f.StateSet, key=("key", _text), value=("value", _anything)),
    _row("title", f.Titled, title=("title", _text), leaf=("leaf", _text)),
)

_BY_NAME: dict[tuple[str, str | None], _Row] = {(row.name, row.event): row for row in _ROWS}
_KNOWN_NAMES = frozenset(row.name for row in _ROWS)
_DEFAULTS: dict[str, dict[str, Any]] = {}


def encode_fact(fact: f.Fact) -> Custom:
    """The `custom` body of a fact. Members that hold their default are left out."""
    row = _row_of(fact)
    data: JsonObject = {"v": VERSION}
    if row.event is not None:
        data["ev"] = row.event
    defaults = _defaults_of(type(fact))
    for field, (member, _) in row.members.items():
        value = getattr(fact, field)
        if value is None or (field in defaults and value == defaults[field]):
            continue
        if isinstance(value, tuple):
            value = list(value)
        place = data
        *outer, last = member.split(".")
        for name in outer:
            inner = place.setdefault(name, {})
            assert isinstance(inner, dict)
            place = inner
        place[last] = value
    return Custom(row.name, data)


def decode_fact(body: Custom) -> f.Fact | None:
    """The fact that a custom entry states; None for other people's, unknown ones and misfits."""
    data = body.data
    if not body.custom_type.startswith(PREFIX) or not isinstance(data, dict):
        return None
    if refusal(body) is not None:
        return None
    event = data.get("ev")
    row = _BY_NAME.get((body.custom_type, event if isinstance(event, str) else None))
    if row is None:
        return None
    values: dict[str, Any] = {}
    try:
        for field, (member, read) in row.members.items():
            value = _lookup(data, member)
            if value is not None:
                values[field] = read(value)
        return row.make(**{**dict.fromkeys(_nullable(row), None), **values})
    except (TypeError, ValueError):
        return None  # a member is missing or does not fit: not a fact that we can rely on


def refusal(body: Custom) -> str | None:
    """Why nothing may be appended after this entry by this version (R44); None: no objection."""
    data = body.data
    if not body.custom_type.startswith(PREFIX) or not isinstance(data, dict):
        return None
    version = data.get("v", VERSION)
    if isinstance(version, int) and version > VERSION:
        return f"{body.custom_type} has version {version}, this program knows {VERSION}"
    if data.get("required") is True and body.custom_type not in _KNOWN_NAMES:
        return f"{body.custom_type} is required and unknown to this program"
    return None


def _lookup(data: JsonObject, member: str) -> JsonValue:
    value: JsonValue = data
    for name in member.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def _row_of(fact: f.Fact) -> _Row:
    for row in _ROWS:
        if row.make is type(fact) and row.event in (None, getattr(fact, "event", row.event)):
            return row
    raise TypeError(f"{type(fact).__name__} has no persisted form")


def _defaults_of(kind: type[f.Fact]) -> dict[str, Any]:
    found = _DEFAULTS.get(kind.__name__)
    if found is None:
        found = {}
        for item in fields(kind):
            if item.default is not MISSING:
                found[item.name] = item.default
            elif item.default_factory is not MISSING:
                found[item.name] = item.default_factory()
        _DEFAULTS[kind.__name__] = found
    return found


def _nullable(row: _Row) -> tuple[str, ...]:
    """Fields without a default that may be None all the same."""
    match row.name:
        case "agentsh.request":
            return ("leaf",)
        case "agentsh.nav":
            return ("origin",)
        case "agentsh.state":
            return ("value",)
        case _:
            return ()
