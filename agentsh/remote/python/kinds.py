"""What a parameter of a tool takes: a closed union of kinds, each with its JSON Schema.

`normalized` gives the JSON value as it is stored and judged, `built` the Python value that the
function gets. Lenient as our own tools are (tools/arguments.py): of several kinds the one that a
value is counts before one that it can be read as. Pure. Read next: functiontool.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, assert_never

from msgspec import Struct

from agentsh.errors import InvalidArgumentsError
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.tools.arguments import coerced, shown_argument


class PlainKind(Struct, frozen=True):
    """A value without parts."""

    type: Literal["string", "integer", "number", "boolean"]


class NullKind(Struct, frozen=True):
    """None."""


class ChoiceKind(Struct, frozen=True):
    """One of these."""

    values: tuple[str | int | bool | None, ...]


class ListKind(Struct, frozen=True):
    """A list; `item` None: of anything."""

    item: ParameterKind | None


class DictKind(Struct, frozen=True):
    """A dict with keys that nobody knows before; `value` None: of anything."""

    value: ParameterKind | None


class UnionKind(Struct, frozen=True):
    """Any of several."""

    kinds: tuple[ParameterKind, ...]


class ParameterMember(Struct, frozen=True):
    """A parameter, or a member of a record."""

    kind: ParameterKind
    is_required: bool
    description: str | None = None


class RecordKind(Struct, frozen=True):
    """Members by name. `make`: the dataclass that they make."""

    members: Mapping[str, ParameterMember]
    make: Callable[..., Any] | None = None


ParameterKind: TypeAlias = (
    PlainKind | NullKind | ChoiceKind | ListKind | DictKind | UnionKind | RecordKind
)

_TYPES: dict[type, str] = {str: "string", bool: "boolean", int: "integer", type(None): "null"}


def schema_of(kind: ParameterKind) -> JsonObject:
    """Its JSON Schema."""
    match kind:
        case PlainKind(name):
            return {"type": name}
        case NullKind():
            return {"type": "null"}
        case ChoiceKind(values):
            names = list(dict.fromkeys(_TYPES[type(value)] for value in values))
            return {"type": names[0] if len(names) == 1 else [*names], "enum": [*values]}
        case ListKind(item):
            listed: JsonObject = {"type": "array"}
            return listed if item is None else {**listed, "items": schema_of(item)}
        case DictKind(value):
            mapped: JsonObject = {"type": "object"}
            return mapped if value is None else {**mapped, "additionalProperties": schema_of(value)}
        case UnionKind(kinds):
            return {"anyOf": [schema_of(each) for each in kinds]}
        case RecordKind(members):
            return schema_of_members(members)
        case _:
            assert_never(kind)


def schema_of_members(members: Mapping[str, ParameterMember]) -> JsonObject:
    """The schema of an object with these members."""
    return {
        "type": "object",
        "properties": {name: _schema_of_member(member) for name, member in members.items()},
        "required": [name for name, member in members.items() if member.is_required],
    }


def _schema_of_member(member: ParameterMember) -> JsonObject:
    """What may be left out needs no null besides."""
    kind = member.kind
    if isinstance(kind, UnionKind) and not member.is_required:
        kinds = tuple(each for each in kind.kinds if not isinstance(each, NullKind))
        kind = kinds[0] if len(kinds) == 1 else UnionKind(kinds)
    schema = schema_of(kind)
    return schema if member.description is None else {**schema, "description": member.description}


def normalized_members(
    members: Mapping[str, ParameterMember],
    value: Mapping[str, JsonValue],
    tool: str,
    parent: str = "",
) -> JsonObject:
    """The members that there are, unknown ones dropped. Raises InvalidArgumentsError."""
    result: JsonObject = {}
    for name, member in members.items():
        path = f"{parent}.{name}" if parent else name
        given = value.get(name)
        if given is None and not (name in value and _takes_null(member.kind)):
            if member.is_required:
                raise InvalidArgumentsError(
                    f"{tool}: the argument {path} is missing; expected {_usage(members)}"
                )
            continue
        result[name] = _normalized(member.kind, given, tool, path)
    return result


def _takes_null(kind: ParameterKind) -> bool:
    match kind:
        case NullKind():
            return True
        case UnionKind(kinds):
            return any(map(_takes_null, kinds))
        case ChoiceKind(values):
            return None in values
        case _:
            return False


def _normalized(kind: ParameterKind, value: JsonValue, tool: str, path: str) -> JsonValue:
    match kind:
        case PlainKind(name) if (read := coerced(name, value)) is not None:
            return read
        case NullKind() if value is None:
            return None
        case ChoiceKind():
            return _chosen(kind, value, tool, path)
        case ListKind(None) | DictKind(None) if coerced(_words(kind), value) is not None:
            return value
        case ListKind(item) if item is not None and isinstance(value, list | tuple):
            return [_normalized(item, each, tool, f"{path}[{i}]") for i, each in enumerate(value)]
        case DictKind(inner) if inner is not None and isinstance(value, Mapping):
            return {n: _normalized(inner, each, tool, f"{path}.{n}") for n, each in value.items()}
        case UnionKind():
            return _normalized(_one_of(kind, value, tool, path), value, tool, path)
        case RecordKind(members) if isinstance(value, Mapping):
            return normalized_members(members, value, tool, path)
        case _:
            raise _unfit(kind, value, tool, path)


def _chosen(kind: ChoiceKind, value: JsonValue, tool: str, path: str) -> JsonValue:
    for each in kind.values:
        if value == each and type(value) is type(each):
            return each
    for each in kind.values:  # as the others: 4 for "4"
        name = _TYPES[type(each)]
        if each is not None and not isinstance(each, str) and coerced(name, value) == each:
            return each
    raise _unfit(kind, value, tool, path)


def _one_of(kind: UnionKind, value: JsonValue, tool: str, path: str) -> ParameterKind:
    """The first that the value is as it stands, else the first that it can be read as."""
    readable: list[ParameterKind] = []
    for each in kind.kinds:
        try:
            read = _normalized(each, value, tool, path)
        except InvalidArgumentsError:
            continue
        if read == value and type(read) is type(value):
            return each
        readable.append(each)
    if not readable:
        raise _unfit(kind, value, tool, path)
    return readable[0]


def built_members(
    members: Mapping[str, ParameterMember], value: Mapping[str, JsonValue]
) -> dict[str, Any]:
    """What the function gets, by name; of a normalized value."""
    return {name: _built(members[name].kind, each) for name, each in value.items()}


def _built(kind: ParameterKind, value: JsonValue) -> Any:
    match kind, value:
        case PlainKind("number"), int():
            return float(value)
        case ListKind(item), list() if item is not None:
            return [_built(item, each) for each in value]
        case DictKind(inner), dict() if inner is not None:
            return {name: _built(inner, each) for name, each in value.items()}
        case UnionKind(), _:
            return _built(_one_of(kind, value, "", ""), value)
        case RecordKind(members, make), dict():
            built = built_members(members, value)
            return built if make is None else make(**built)
        case _:
            return value


def _unfit(kind: ParameterKind, value: JsonValue, tool: str, path: str) -> InvalidArgumentsError:
    return InvalidArgumentsError(
        f"{tool}: {path} must be {_words(kind)}, got {shown_argument(value)}"
    )


def _words(kind: ParameterKind) -> str:
    match kind:
        case PlainKind(name):
            return name
        case NullKind():
            return "null"
        case ChoiceKind(values):
            return "one of " + ", ".join(map(shown_argument, values))
        case ListKind():
            return "array"
        case UnionKind(kinds):
            return " or ".join(map(_words, kinds))
        case DictKind() | RecordKind():
            return "object"
        case _:
            assert_never(kind)


def _usage(members: Mapping[str, ParameterMember]) -> str:
    return ", ".join(
        f"{name}{'' if member.is_required else '?'}: {_words(member.kind)}"
        for name, member in members.items()
    )
