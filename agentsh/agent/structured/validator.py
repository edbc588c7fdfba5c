"""JSON Schema by fastjsonschema, and nobody else has it. Loaded only when a schema is given.

It makes Python code of a schema. Ours to see to: nothing is fetched for a `$ref` (it would open
URLs and files), no default is put into a value, and each keyword of a schema is checked or refused:
the library passes over those that it does not know, and over what stands beside a `$ref`. So a
schema is itself held against what schemas are, and its newer words (2019-09, 2020-12) are put in
older ones for the check; the model and the server get it as it was given.
Read next: answers.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeAlias

import fastjsonschema

from agentsh.agent.structured.answers import AnswerSchema
from agentsh.errors import UsageError
from agentsh.jsontext import JsonObject, JsonValue

_Schema: TypeAlias = Mapping[str, JsonValue]

_KINDS: Final[Sequence[str]] = ["array", "boolean", "integer", "null", "number", "object", "string"]
_SCHEMA: Final[_Schema] = {"$ref": "#"}
_SCHEMAS: Final[_Schema] = {"type": "array", "minItems": 1, "items": _SCHEMA}
_NAMED: Final[_Schema] = {"type": "object", "additionalProperties": _SCHEMA}
_COUNT: Final[_Schema] = {"type": "integer", "minimum": 0}
_NUMBER: Final[_Schema] = {"type": "number"}
_TEXT: Final[_Schema] = {"type": "string"}
_NAMES: Final[_Schema] = {"type": "array", "items": _TEXT}
_YES_OR_NO: Final[_Schema] = {"type": "boolean"}
_KEYWORDS: Final[_Schema] = {
    **dict.fromkeys(("$schema", "$id", "$ref", "$anchor", "$comment", "title"), _TEXT),
    **dict.fromkeys(("description", "format", "pattern"), _TEXT),
    **dict.fromkeys(("contentEncoding", "contentMediaType"), _TEXT),
    **dict.fromkeys(("default", "const"), True),
    "examples": {"type": "array"},
    **dict.fromkeys(("deprecated", "readOnly", "writeOnly", "uniqueItems"), _YES_OR_NO),
    "type": {"anyOf": [{"enum": _KINDS}, {"type": "array", "items": {"enum": _KINDS}}]},
    "enum": {"type": "array", "minItems": 1},
    **dict.fromkeys(("definitions", "$defs", "properties", "patternProperties"), _NAMED),
    **dict.fromkeys(("additionalProperties", "propertyNames", "additionalItems"), _SCHEMA),
    **dict.fromkeys(("not", "if", "then", "else", "contains"), _SCHEMA),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _SCHEMAS),
    "items": {"anyOf": [_SCHEMA, _SCHEMAS]},
    "required": _NAMES,
    "dependentSchemas": _NAMED,
    "dependentRequired": {"type": "object", "additionalProperties": _NAMES},
    "dependencies": {"type": "object", "additionalProperties": {"anyOf": [_SCHEMA, _NAMES]}},
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _COUNT),
    **dict.fromkeys(("minProperties", "maxProperties"), _COUNT),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBER),
    "multipleOf": {"type": "number", "exclusiveMinimum": 0},
}
_UNCHECKED: Final = (
    *("unevaluatedProperties", "unevaluatedItems", "minContains", "maxContains"),
    *("$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"),
)
_META: Final[_Schema] = {
    "type": ["object", "boolean"],
    "properties": {**_KEYWORDS, **dict.fromkeys(_UNCHECKED, False)},
}
_DATA: Final = ("const", "enum", "default", "examples")
"""Keywords whose values are no schemas."""
_ONE_OF_EACH: Final[Sequence[JsonValue]] = (None, True, 0, 0.5, "", [], {})

# what its making of code comes to grief with, where a schema is wrong in a way of its own
_FAILURES: Final = (
    fastjsonschema.JsonSchemaException,
    *(AttributeError, LookupError, TypeError, ValueError, ArithmeticError),
    *(re.error, RecursionError, SyntaxError),
)


class _Nothing(dict[str, Callable[[str], Any]]):
    """Who fetches a `$ref` of any scheme: nobody."""

    def __contains__(self, scheme: object) -> bool:
        return True

    def __missing__(self, scheme: str) -> Callable[[str], NoReturn]:
        return _refuse


def _refuse(address: str) -> NoReturn:
    raise fastjsonschema.JsonSchemaDefinitionException(
        f"$ref leads to {address}, and nothing is fetched: put it into $defs"
    )


def answer_schema(schema: JsonValue, name: str) -> AnswerSchema:
    """Ready to check values by it. Raises UsageError: `name` is no JSON Schema."""
    if not isinstance(schema, dict):
        raise UsageError(f"{name} is no JSON Schema: it holds no object")
    if schema and not _KEYWORDS.keys() & schema.keys():
        listed = ", ".join(list(schema)[:3])
        raise UsageError(f"{name} is no JSON Schema: no word of it is one of those ({listed})")
    try:
        _compiled(_META)(schema)
        check = _compiled(_older(schema))
        for value in _ONE_OF_EACH:
            _complaint(check, value)
    except RecursionError as e:
        raise UsageError(f"{name} is no JSON Schema: it leads to itself without an end") from e
    except _FAILURES as e:
        raise UsageError(f"{name} is no JSON Schema: {_words(e)}") from e
    return AnswerSchema(schema, lambda value: _complaint(check, value))


def _compiled(schema: _Schema) -> Callable[[JsonValue], object]:
    check: Callable[[JsonValue], object] = fastjsonschema.compile(
        dict(schema), handlers=_Nothing(), use_default=False
    )
    return check


def _complaint(check: Callable[[JsonValue], object], value: JsonValue) -> str | None:
    try:
        check(value)
    except fastjsonschema.JsonSchemaValueException as e:
        return _words(e)
    return None


def _words(error: Exception) -> str:
    if isinstance(error, fastjsonschema.JsonSchemaValueException):
        for word in _UNCHECKED:
            if str(error.name).endswith(f".{word}"):
                return f"{word} cannot be checked"
    return str(error) or type(error).__name__


def _older(schema: JsonObject) -> JsonObject:
    """The same in words that the library knows."""
    members = {name: _part(name, value) for name, value in schema.items()}
    if isinstance(schema.get("prefixItems"), list):
        if "items" in members:
            members["additionalItems"] = members.pop("items")
        members["items"] = members.pop("prefixItems")
    depending = {**_named(members, "dependentRequired"), **_named(members, "dependentSchemas")}
    if depending:
        members["dependencies"] = {**depending, **_named(members, "dependencies")}
    if "$ref" in members and len(members) > 1:
        members["allOf"] = [{"$ref": members.pop("$ref")}, *_listed(members, "allOf")]
    return members


def _part(name: str, value: JsonValue) -> JsonValue:
    if name in _DATA:
        return value
    if isinstance(value, dict):
        if name in ("properties", "patternProperties", "definitions", "$defs", "dependentSchemas"):
            return {each: _part("", schema) for each, schema in value.items()}
        return _older(value)
    if isinstance(value, list):
        return [_part("", each) for each in value]
    return value


def _named(schema: JsonObject, name: str) -> JsonObject:
    value = schema.get(name)
    return dict(value) if isinstance(value, dict) else {}


def _listed(schema: JsonObject, name: str) -> list[JsonValue]:
    value = schema.get(name)
    return list(value) if isinstance(value, list) else []
