"""Our facts ↔ `custom` entries named `agentsh.*`: one codec for all that facts.py declares. Pure.

The layout of a kind of fact is worked out from its class when it is first met. Absent, null and the
default are one. Data that do not fit are no fact: None, never an error. `refusal` says when a fact
forbids appending (R44): newer `v`, or unknown and required.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from types import NoneType
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args, get_origin

from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, fields

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.session.format.entries import Custom
from agentsh.session.format.facts import Fact

PREFIX = "agentsh."
FACT_VERSION = 1

# What a member holds → what the field gets. Raises ValueError or TypeError where it does not fit.
_Reader: TypeAlias = Callable[[JsonValue], Any]


class _Place(Struct, frozen=True):
    """Where a field stands in `data`."""

    field: str
    outer: tuple[str, ...]
    """The objects inside `data` that it lies in."""
    name: str
    default: Any
    """NODEFAULT where there is none."""


class _Member(Struct, frozen=True):
    place: _Place
    read: _Reader
    is_nullable: bool


class _Layout(Struct, frozen=True):
    kind: type[Fact]
    events: tuple[str | None, ...]
    """What `ev` may say; None: it is no text."""
    members: tuple[_Member, ...]


_FAMILIES: Final[dict[str, tuple[type[Fact], ...]]] = {}
for _kind in Fact.__subclasses__():
    _FAMILIES[PREFIX + _kind.family] = (*_FAMILIES.get(PREFIX + _kind.family, ()), _kind)


def name_of(kind: type[Fact]) -> str:
    """The customType that facts of that kind have."""
    return PREFIX + kind.family


def names_of(*kinds: type[Fact]) -> frozenset[str]:
    """The same of several kinds: to tell an entry without decoding what it states."""
    return frozenset(map(name_of, kinds))


def encode_fact(fact: Fact) -> Custom:
    """The `custom` body of a fact. Members that hold their default are left out."""
    data: JsonObject = {"v": FACT_VERSION}
    if fact.ev is not None:
        data["ev"] = fact.ev
    for place in _places(type(fact)):
        value = getattr(fact, place.field)
        if value is None or value == place.default:
            continue
        table: Any = data
        for name in place.outer:
            table = table.setdefault(name, {})
        table[place.name] = list(value) if isinstance(value, tuple) else value
    return Custom(PREFIX + fact.family, data)


def decode_fact(body: Custom) -> Fact | None:
    """The fact that a custom entry states; None for other people's, unknown ones and misfits."""
    data = body.data
    family = _FAMILIES.get(body.custom_type)
    if family is None or not isinstance(data, dict) or refusal(body) is not None:
        return None
    event = data.get("ev")
    for layout in map(_layout, family):
        if (event if isinstance(event, str) else None) in layout.events:
            return _read(layout, data)
    return None


def _read(layout: _Layout, data: JsonObject) -> Fact | None:
    values: dict[str, Any] = {}
    try:
        for member in layout.members:
            place = member.place
            table: JsonValue = data
            for name in place.outer:
                table = table.get(name) if isinstance(table, dict) else None
            value = table.get(place.name) if isinstance(table, dict) else None
            if value is not None:
                values[place.field] = member.read(value)
            elif member.is_nullable:
                values[place.field] = None
        return layout.kind(**values)
    except (TypeError, ValueError, OverflowError):
        return None  # a member is missing or does not fit: not a fact that we can rely on


def refusal(body: Custom) -> str | None:
    """Why nothing may be appended after this entry by this version (R44); None: no objection."""
    data = body.data
    if not body.custom_type.startswith(PREFIX) or not isinstance(data, dict):
        return None
    version = data.get("v", FACT_VERSION)
    if isinstance(version, int) and version > FACT_VERSION:
        return f"{body.custom_type} has version {version}, this program knows {FACT_VERSION}"
    if data.get("required") is True and body.custom_type not in _FAMILIES:
        return f"{body.custom_type} is required and unknown to this program"
    return None


def words_of(kind: type[Fact], field: str, form: bytes) -> re.Pattern[bytes]:
    """Finds, in the bytes of a file, what a field of that form says in lines of encode_fact's.

    The form has no quotes. Where the field comes first, `ev` is looked at, too.
    """
    number, place = next((n, p) for n, p in enumerate(_places(kind)) if p.field == field)
    event = f'"ev":"{kind.ev}",' if kind.ev is not None and number == 0 else ""
    return re.compile(f'{event}"{place.name}":"'.encode() + rb"(" + form + rb')"')


# ---- what a class declares -------------------------------------------------------------------


@cache
def _places(kind: type[Fact]) -> tuple[_Place, ...]:
    """All that writing needs. What reading needs more, the types, takes longer to find out."""
    names, encoded, defaults = (
        kind.__struct_fields__,
        kind.__struct_encode_fields__,
        kind.__struct_defaults__,
    )
    without = (NODEFAULT,) * (len(names) - len(defaults))
    return tuple(map(_place, names, encoded, (*without, *defaults)))


def _place(field: str, encoded: str, default: Any) -> _Place:
    *outer, name = encoded.split(".")
    factory = getattr(default, "factory", None)
    return _Place(field, tuple(outer), name, default if factory is None else factory())


@cache
def _layout(kind: type[Fact]) -> _Layout:
    infos = fields(kind)
    stated = next((get_args(info.type) for info in infos if info.encode_name == "ev"), (kind.ev,))
    return _Layout(kind, stated, tuple(map(_member, _places(kind), infos)))


def _member(place: _Place, info: FieldInfo) -> _Member:
    return _Member(place, _reader(info.type), NoneType in get_args(info.type))


def _reader(hint: Any) -> _Reader:
    """How a value is read for a field of that type."""
    hint = getattr(hint, "__supertype__", hint)  # of a NewType
    arguments = get_args(hint)
    if NoneType in arguments:
        [*present] = (word for word in arguments if word is not NoneType)
        return _reader(present[0]) if len(present) == 1 else _anything
    match get_origin(hint):
        case None:
            return _scalar(hint)
        case origin if origin is Literal:
            return lambda value: arguments[arguments.index(value)]
        case origin if origin is Annotated:
            return _matching(arguments[1].pattern)
        case origin if origin is tuple:
            return _items(_reader(arguments[0]))
        case _:
            return _object


def _scalar(kind: type[str | int | float]) -> _Reader:
    kinds, is_flag = (int, float) if kind is float else (kind,), kind is bool

    def read(value: JsonValue) -> Any:
        if not isinstance(value, kinds) or isinstance(value, bool) is not is_flag:
            raise TypeError
        return kind(value)

    return read


def _matching(pattern: str) -> _Reader:
    fits = re.compile(pattern).fullmatch

    def read(value: Any) -> Any:
        if fits(value) is None:  # TypeError for what is no text
            raise ValueError
        return value

    return read


def _items(item: _Reader) -> _Reader:
    def read(value: JsonValue) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise TypeError
        return tuple(map(item, value))

    return read


def _object(value: JsonValue) -> JsonObject:
    if not isinstance(value, dict):
        raise TypeError
    return value


def _anything(value: JsonValue) -> JsonValue:
    return value
