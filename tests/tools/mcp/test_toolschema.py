"""A tool's schema as endpoints take it: what is none is not offered; the top of one is flat."""

from __future__ import annotations

import time

import pytest

from agentsh.context.scrub import scrub
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.tools.mcp.listreading import read_tools
from agentsh.tools.mcp.toolschema import as_endpoints_take_it, schema_fault, value_fault

NAME: JsonObject = {"type": "string"}


def of(**properties: JsonValue) -> JsonObject:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        (of(type="object"), "/properties/type"),
        (of(a={"type": "text"}), "/properties/a/type"),
        (of(a={"type": []}), "/properties/a/type"),
        (of(a={**NAME, "required": True}), "/properties/a/required"),
        (of(a={"type": "array", "items": "string"}), "/properties/a/items"),
        (of(a={"anyOf": {"type": "string"}}), "/properties/a/anyOf"),
        ({"type": "object", "properties": ["a"]}, "/properties"),
        ({"type": "object", "required": ["a", 7]}, "/required"),
        ({"type": "object", "$defs": {"A": 7}}, "/$defs/A"),
    ],
)
def test_what_is_no_json_schema_is_left_out_and_said_where(schema: JsonObject, place: str) -> None:
    fault = schema_fault(schema)
    entries: list[JsonValue] = [
        {"name": "bad", "inputSchema": schema},
        {"name": "good", "inputSchema": of()},
    ]

    tools, odd = read_tools(entries, lambda text: scrub(text)[0])

    assert fault is not None
    assert fault.startswith(place)
    assert [tool.name for tool in tools] == ["good"]
    assert len(odd) == 1
    assert place in odd[0]


@pytest.mark.parametrize(
    "schema",
    [
        of(a=NAME, b={"type": ["string", "null"]}, c=True),
        of(a={"$ref": "#/$defs/A"}) | {"$defs": {"A": of(n=NAME)}, "additionalProperties": False},
        of(a={"type": "array", "items": [NAME, NAME]}),
        of(a={"anyOf": [NAME, {"type": "null"}], "default": None}, b={"enum": ["x", 1]}),
        of(properties=NAME, required=NAME, items=NAME),
    ],
)
def test_what_is_sound_is_sent_as_it_is(schema: JsonObject) -> None:
    assert schema_fault(schema) is None
    assert as_endpoints_take_it(schema) == schema


def test_a_tool_without_arguments_has_an_empty_object() -> None:
    assert as_endpoints_take_it({}) == {"type": "object", "properties": {}}


def test_an_array_says_of_what_it_is() -> None:
    schema = of(a={"type": "array"}, b=of(c={"type": ["array", "null"]}), d={"default": []})

    assert as_endpoints_take_it(schema)["properties"] == {
        "a": {"type": "array", "items": {}},
        "b": of(c={"type": ["array", "null"], "items": {}}),
        "d": {"default": []},
    }
    assert as_endpoints_take_it(of(a={"default": {"type": "array"}})) == of(
        a={"default": {"type": "array"}}
    )


def test_choices_at_the_top_become_the_members_of_all_forms() -> None:
    number: JsonObject = {"type": "integer"}
    schema: JsonObject = {
        **of(both=NAME),
        "required": ["both"],
        "oneOf": [
            {**of(kind=NAME, name=NAME), "required": ["kind", "name"]},
            {"$ref": "#/$defs/Other"},
        ],
        "allOf": [{**of(sure=number), "required": ["sure"]}],
        "not": {"required": ["never"]},
        "$defs": {"Other": {**of(kind=NAME, id=number), "required": ["kind", "id"]}},
    }

    flat = as_endpoints_take_it(schema)

    assert flat.keys() == {"type", "properties", "required", "$defs"}
    assert flat["properties"] == {
        "sure": number,
        "kind": NAME,
        "name": NAME,
        "id": number,
        "both": NAME,
    }
    assert flat["required"] == ["both", "sure", "kind"]


def test_a_reference_at_the_top_is_what_it_leads_to() -> None:
    schema: JsonObject = {
        "$ref": "#/$defs/Query",
        "$defs": {"Query": {**of(q=NAME), "required": ["q"]}},
    }

    flat = as_endpoints_take_it(schema)

    assert "$ref" not in flat
    assert (flat["properties"], flat["required"]) == ({"q": NAME}, ["q"])
    assert as_endpoints_take_it({"$ref": "#/nowhere"})["properties"] == {}


NUMBERS: JsonObject = {"type": "array", "items": {"type": "integer"}}


@pytest.mark.parametrize(
    ("schema", "value", "fault"),
    [
        (of(a=NAME), {"a": "x", "b": 1}, None),
        (of(a=NAME), {"a": 1}, "/a is no string"),
        (of(a=NAME) | {"required": ["a"]}, {}, "it lacks a"),
        (of(a=NUMBERS), {"a": [1, 2.0, 3]}, None),
        (of(a=NUMBERS), {"a": [1, "2"]}, "/a/1 is no integer"),
        (of(a=NUMBERS), {"a": [True]}, "/a/0 is no integer"),
        (of(a={"type": ["string", "null"]}), {"a": None}, None),
        (of(a={"enum": ["x", "y"]}), {"a": "z"}, "/a is none of its choices"),
        (of(), [], "it is no object"),
        (True, 7, None),
    ],
)
def test_a_value_is_held_against_its_schema(
    schema: JsonValue, value: JsonValue, fault: str | None
) -> None:
    assert value_fault(schema, value) == fault


def test_l29_no_schema_takes_a_value_longer_than_it_is_large() -> None:
    """A server may send any: patterns that backtrack, references that double, a thousand kinds."""
    doubling: JsonObject = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)
    }
    value: JsonObject = {"a": "a" * 60 + "b", "b": [1] * 100_000}
    schemas: list[JsonObject] = [
        of(a={**NAME, "pattern": "^(a|a)*$"}),
        {**of(), "$defs": doubling, "$ref": "#/$defs/d0"},
        {**of(), "$ref": "#"},
        of(b={"items": {"enum": list(range(100_000))}, "uniqueItems": True}),
        of(b={"items": {"type": ["string"] * 100_000 + ["integer"]}}),
    ]
    began = time.monotonic()
    for schema in schemas:
        value_fault(schema, value)

    assert time.monotonic() - began < 2
