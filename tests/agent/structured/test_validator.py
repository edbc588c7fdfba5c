"""A JSON Schema is checked by all that it says, or refused."""

from __future__ import annotations

import pytest

from agentsh.agent.structured.validator import answer_schema
from agentsh.errors import UsageError
from agentsh.jsontext import JsonObject, JsonValue

DRAFT = "https://json-schema.org/draft/2020-12/schema"
ONE: JsonObject = {"type": "integer"}


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ([1], "it holds no object"),
        ({"type": "nonsense"}, "type"),
        ({"properties": 5}, "properties must be object"),
        ({"properties": {"a": {"required": "b"}}}, "required must be array"),
        ({"multipleOf": 0}, "multipleOf must be bigger than 0"),
        ({"pattern": "("}, "unterminated"),
        ({"birds": {"type": "integer"}}, "no word of it is one of those (birds)"),
        ({"$ref": "#"}, "leads to itself"),
        ({"$ref": "#/$defs/gone"}, "Unresolvable ref"),
        ({"type": "object", "unevaluatedProperties": False}, "unevaluatedProperties cannot be"),
    ],
)
def test_what_is_no_schema_is_named(schema: JsonValue, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        answer_schema(schema, "s.json")

    assert str(caught.value).startswith("s.json is no JSON Schema: ")
    assert why in str(caught.value)


@pytest.mark.parametrize("place", ["http://127.0.0.1:1/s", "file:///etc/hostname", "other.json"])
def test_nothing_is_fetched_for_a_schema(place: str) -> None:
    with pytest.raises(UsageError, match="nothing is fetched"):
        answer_schema({"properties": {"a": {"$ref": place}}}, "s.json")


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"$ref": "#/$defs/one", "$defs": {"one": ONE}}, 1, "x"),
        ({"$ref": "#/$defs/one", "minimum": 5, "$defs": {"one": ONE}}, 5, 4),
        ({"$schema": DRAFT, "prefixItems": [ONE], "items": False}, [1], [1, 2]),
        ({"prefixItems": [ONE], "items": {"type": "string"}}, [1, "x"], [1, 2]),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1, "b": 1}, {"a": 1}),
        ({"dependentSchemas": {"a": {"required": ["b"]}}}, {"c": 1}, {"a": 1}),
        ({"properties": {"prefixItems": ONE, "type": ONE}}, {"type": 1}, {"prefixItems": "x"}),
        ({"const": {"prefixItems": [1]}}, {"prefixItems": [1]}, {"items": [1]}),
        ({"properties": {"a": {"$ref": "#"}}, "additionalProperties": False}, {"a": {}}, {"b": 1}),
        ({"type": "string", "format": "date"}, "2026-12-01", "yesterday"),
        ({"type": "string", "format": "colour"}, "red", 1),
        ({"properties": {"a": {"default": 1}}, "required": ["a"]}, {"a": 2}, {}),
    ],
)
def test_each_word_of_a_schema_counts(schema: JsonObject, good: JsonValue, bad: JsonValue) -> None:
    checked = answer_schema(schema, "s.json")

    assert checked.schema is schema
    assert checked.complain(good) is None
    assert checked.complain(bad) is not None


def test_an_empty_schema_takes_any_value() -> None:
    assert answer_schema({}, "s.json").complain([1, "x", None]) is None


def test_a_schema_is_text_and_no_program() -> None:
    odd = '"]; raise SystemExit(9); x=["\\\n"""'
    schema: JsonObject = {
        "title": odd,
        "properties": {odd: ONE},
        "required": [odd],
        "const": {odd: 1},
    }

    assert answer_schema(schema, "s.json").complain({odd: 1}) is None
