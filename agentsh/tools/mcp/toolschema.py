"""The schema of a tool as endpoints take it, and whether a result is what its schema says. Pure.

One schema that an endpoint refuses costs every request, whatever tool it would have called. So what
is no JSON Schema is not offered, an array says of what it is, and what stands at the top is a plain
object: choices between forms (`anyOf` …), which endpoints refuse there, become the members of all
forms. What the server asks for besides, it checks itself. A result is held against kinds, required
members and choices, each value once: patterns, references and combinations could take as long as
the server likes, and nothing else could go on meanwhile. Read next: listing.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from agentsh.jsontext import JsonObject, JsonValue

_TYPES: Final = {"string", "number", "integer", "boolean", "object", "array", "null"}
_MAPS: Final = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_ONES: Final = ("items", "additionalProperties", "not", "if", "then", "else", "contains")
_ONES_OF_FORM: Final = ("anyOf", "oneOf")
_NOT_AT_THE_TOP: Final = (
    *("anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "then", "else", "$ref"),
)
_MOST_LOOKED_AT: Final = 10_000
_MOST_CHOICES: Final = 100
_VALUES: Final = frozenset({"default", "const", "enum", "examples"})
"""Members that hold values, and no schemas."""


def schema_fault(schema: JsonValue, where: str = "") -> str | None:
    """Why it is no JSON Schema, with the place; None: it is one, as far as is looked."""
    if isinstance(schema, bool):
        return None
    if not isinstance(schema, Mapping):
        return f"{where or 'it'} is no schema"
    own = _own_fault(schema, where)
    if own is not None:
        return own
    faults = (schema_fault(each, part) for part, each in _parts(schema, where))
    return next((fault for fault in faults if fault is not None), None)


def _own_fault(schema: Mapping[str, JsonValue], where: str) -> str | None:
    named = schema.get("type", "object")
    types = named if isinstance(named, list) else [named]
    if not types or not all(isinstance(each, str) and each in _TYPES for each in types):
        return f"{where}/type is no type"
    for key in ("required", "enum"):
        if not isinstance(schema.get(key, []), list):
            return f"{where}/{key} is no list"
    if not all(isinstance(each, str) for each in _listed(schema.get("required"))):
        return f"{where}/required has what is no name"
    for key in _MAPS:
        if not isinstance(schema.get(key, {}), Mapping):
            return f"{where}/{key} is no object"
    for key in _LISTS:
        if not isinstance(schema.get(key, []), list):
            return f"{where}/{key} is no list"
    return None


def _parts(schema: Mapping[str, JsonValue], where: str) -> Iterator[tuple[str, JsonValue]]:
    """The schemas in it, each with its place."""
    for key in _MAPS:
        members = schema.get(key)
        if isinstance(members, Mapping):
            yield from ((f"{where}/{key}/{name}", each) for name, each in members.items())
    for key in _LISTS:
        yield from ((f"{where}/{key}", each) for each in _listed(schema.get(key)))
    for key in _ONES:
        if key == "items" and isinstance(schema.get(key), list):  # of an older draft
            yield from ((f"{where}/{key}", each) for each in _listed(schema[key]))
        elif key in schema:
            yield f"{where}/{key}", schema[key]


def as_endpoints_take_it(schema: JsonObject) -> JsonObject:
    """A sound schema, as it is sent."""
    whole = _with_items(schema)
    assert isinstance(whole, dict)
    return _flat({"type": "object", "properties": {}, **whole})


def _with_items(value: JsonValue) -> JsonValue:
    """An array without `items` may hold anything: that is said."""
    match value:
        case dict():
            each = {
                name: member if name in _VALUES else _with_items(member)
                for name, member in value.items()
            }
            named = each.get("type")
            is_array = named == "array" or (isinstance(named, list) and "array" in named)
            is_said = "items" in each or "prefixItems" in each
            return {**each, "items": {}} if is_array and not is_said else each
        case list():
            return [_with_items(member) for member in value]
        case _:
            return value


def _flat(schema: JsonObject) -> JsonObject:
    """Without choices at the top: the members of all forms, and what each of them requires."""
    forms = {key: _forms(schema, key) for key in ("allOf", *_ONES_OF_FORM)}
    whole = _looked_up(schema, {"$ref": schema.get("$ref")})
    if "$ref" in schema and isinstance(whole, dict):
        forms["allOf"].append(whole)
    if not any(key in schema for key in _NOT_AT_THE_TOP):
        return schema
    properties: JsonObject = {}
    for form in (form for each in forms.values() for form in each):
        properties |= _members(form)
    properties |= _members(schema)
    required = [*_listed(schema.get("required"))]
    for form in forms["allOf"]:
        required += _listed(form.get("required"))
    for key in _ONES_OF_FORM:
        lists = [_listed(form.get("required")) for form in forms[key]]
        required += [
            name for name in (lists[0] if lists else []) if all(name in each for each in lists)
        ]
    plain = {key: each for key, each in schema.items() if key not in _NOT_AT_THE_TOP}
    flat: JsonObject = {**plain, "properties": properties}
    return {**flat, "required": [*dict.fromkeys(map(str, required))]} if required else flat


def _forms(schema: JsonObject, key: str) -> list[JsonObject]:
    """The choices that it names there, each looked up where it is a reference."""
    forms = [_looked_up(schema, each) for each in _listed(schema.get(key))]
    return [each for each in forms if isinstance(each, dict)]


def _looked_up(schema: JsonObject, form: JsonValue) -> JsonValue:
    reference = form.get("$ref") if isinstance(form, dict) else None
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return form
    value: JsonValue = schema
    for name in reference[2:].split("/"):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _members(schema: JsonObject) -> JsonObject:
    members = schema.get("properties")
    return members if isinstance(members, dict) else {}


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def value_fault(schema: JsonValue, value: JsonValue) -> str | None:
    """What of a value is plainly not as its schema says; None: nothing, as far as is looked."""
    count = 0
    places = [("", schema, value)]
    while places and count < _MOST_LOOKED_AT:
        where, subschema, part = places.pop()
        count += 1
        if not isinstance(subschema, Mapping):
            continue
        if (fault := _own_misfit(subschema, part)) is not None:
            return f"{where or 'it'} {fault}"
        room = _MOST_LOOKED_AT - count
        members, items = subschema.get("properties"), subschema.get("items")
        if isinstance(members, Mapping) and isinstance(part, Mapping):
            names = (name for name in part if name in members)
            places += [(f"{where}/{n[:60]}", members[n], part[n]) for n in islice(names, room)]
        if isinstance(items, Mapping) and isinstance(part, list):
            places += [(f"{where}/{i}", items, each) for i, each in enumerate(part[:room])]
    return None


def _own_misfit(schema: Mapping[str, JsonValue], value: JsonValue) -> str | None:
    kinds = schema.get("type")
    types = kinds if isinstance(kinds, list) else [] if kinds is None else [kinds]
    if types and not any(_is_of(kind, value) for kind in types[: len(_TYPES)]):
        return f"is no {' or '.join(map(str, types[: len(_TYPES)]))}"[:100]
    if isinstance(value, Mapping):
        for name in _listed(schema.get("required")):
            if isinstance(name, str) and name not in value:
                return f"lacks {name[:60]}"
    choices = _listed(schema.get("enum"))
    if isinstance(value, str) and 0 < len(choices) <= _MOST_CHOICES and value not in choices:
        return "is none of its choices"
    return None


def _is_of(kind: JsonValue, value: JsonValue) -> bool:
    match kind, value:
        case "boolean", bool():
            return True
        case (("integer" | "number"), bool()):
            return False
        case ("integer", int()) | ("number", int() | float()) | ("string", str()):
            return True
        case "integer", float():
            return value == value // 1
        case ("object", Mapping()) | ("array", list()) | ("null", None):
            return True
        case _:
            return kind not in _TYPES
