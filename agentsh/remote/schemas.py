"""The JSON Schemas of what programs get and say, made from the classes that make and read it.

A schema takes more members than it names, since members are added; a kind of line that it does not
name is none. Its descriptions are the docstrings. It stands alone because no run needs it. Pure.
Read next: remote/values/lines.py, remote/values/rpcrecords.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, get_args

from msgspec import Struct
from msgspec.json import schema_components

from agentsh.errors import UsageError
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.remote.rpc.commands import ANSWER, RPC_COMMANDS, DialogAnswer
from agentsh.remote.values.lines import EventLine, RunResult
from agentsh.remote.values.rpcdata import RPC_DATA, ErrorCode
from agentsh.remote.values.rpcrecords import RpcRecord
from agentsh.remote.values.sessions import ListedSession

_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE: Final = "#/$defs/{name}"


class _Published(Struct, frozen=True):
    title: str
    make: Callable[[], JsonObject]


def published_schema(name: str) -> JsonObject:
    """Raises UsageError: there is none of that name."""
    published = _PUBLISHED.get(name)
    if published is None:
        raise UsageError(f"there is no schema {name!r}", hint="one of: " + ", ".join(NAMES))
    return {"$schema": _DRAFT, "title": published.title, **published.make()}


def _of(kind: Any) -> Callable[[], JsonObject]:  # a type, as msgspec reads one
    """`kind`: a type, as msgspec reads one."""

    def make() -> JsonObject:
        (schema,), parts = schema_components([kind], ref_template=_REFERENCE)
        _without_discriminator(schema)
        return {**schema, "$defs": parts}

    return make


def _without_discriminator(value: JsonValue) -> None:
    """A word of OpenAPI, which strict readers refuse."""
    if isinstance(value, dict):
        value.pop("discriminator", None)
        for each in value.values():
            _without_discriminator(each)
    elif isinstance(value, list):
        for each in value:
            _without_discriminator(each)


def _any_of(kinds: Mapping[str, Any]) -> tuple[dict[str, JsonObject], JsonObject]:
    """Name → schema of each, and the parts that they refer to."""
    schemas, parts = schema_components([*kinds.values()], ref_template=_REFERENCE)
    for each in (*schemas, parts):
        _without_discriminator(each)
    return dict(zip(kinds, schemas, strict=True)), parts


def _rpc_lines() -> JsonObject:
    """What agentsh writes: events and questions, and the response of each command."""
    records = get_args(RpcRecord)
    schemas, parts = _any_of({**{each.__name__: each for each in records}, **RPC_DATA})
    responses = {f"{name}_response": _response(name, schemas.get(name)) for name in RPC_COMMANDS}
    failure = {"failed_response": _FAILURE}
    lines = [schemas[each.__name__] for each in records]
    named: list[JsonValue] = [
        {"$ref": _REFERENCE.format(name=name)} for name in (*responses, *failure)
    ]
    return {"anyOf": [*lines, *named], "$defs": {**parts, **responses, **failure}}


def _response(command: str, data: JsonObject | None) -> JsonObject:
    members: JsonObject = {
        "type": {"const": "response"},
        "command": {"const": command},
        "success": {"const": True},
        "id": _ID,
    }
    required: list[JsonValue] = ["type", "command", "success"]
    if data is not None:
        members["data"] = data
        required.append("data")
    return {"type": "object", "properties": members, "required": required}


_ID: Final[JsonObject] = {
    "description": "As the command gave it.",
    "type": ["string", "number"],
}
_FAILURE: Final[JsonObject] = {
    "description": "A command that was not done; `command` is parse where a line was none.",
    "type": "object",
    "properties": {
        "type": {"const": "response"},
        "command": {"type": "string"},
        "success": {"const": False},
        "id": _ID,
        "error": {"type": "string"},
        "code": {"enum": [*get_args(ErrorCode)]},
    },
    "required": ["type", "command", "success", "error", "code"],
}


def _rpc_commands() -> JsonObject:
    """What a client writes."""
    schemas, parts = _any_of({**RPC_COMMANDS, ANSWER: DialogAnswer})
    for name, schema in schemas.items():
        part = parts[str(schema["$ref"]).rsplit("/", 1)[1]]
        assert isinstance(part, dict)
        members, required = part["properties"], part["required"]
        assert isinstance(members, dict)
        assert isinstance(required, list)
        members["type"] = {"const": name}
        members.setdefault("id", _ID)  # an answer's is that of the question
        part["required"] = ["type", *(each for each in required if each != "type")]
    return {"anyOf": [*schemas.values()], "$defs": parts}


_PUBLISHED: Final[Mapping[str, _Published]] = {
    "events": _Published("one line of `agentsh run --output events`", _of(EventLine)),
    "result": _Published("what `agentsh run --output json` prints", _of(RunResult)),
    "rpc": _Published("one line that `agentsh rpc` writes", _rpc_lines),
    "rpc-commands": _Published("one line that a client of `agentsh rpc` writes", _rpc_commands),
    "sessions": _Published("what `agentsh sessions --json` prints", _of(tuple[ListedSession, ...])),
}
NAMES: Final = tuple(_PUBLISHED)
