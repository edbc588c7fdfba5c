"""A server's list, read leniently: what is no tool is left out, by name; the rest is there."""

from __future__ import annotations

import pytest

from agentsh.context.scrub import scrub
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.tools.mcp.listing import (
    ListedTool,
    Listing,
    choose,
    difference_words,
)
from agentsh.tools.mcp.listreading import MOST_TOOLS, read_tools

SCHEMA: JsonObject = {"type": "object", "properties": {}}


def read(*entries: JsonValue) -> tuple[tuple[ListedTool, ...], tuple[str, ...]]:
    return read_tools(entries, lambda text: scrub(text)[0])


def entry(name: str, **more: JsonValue) -> JsonObject:
    return {"name": name, "description": "d", "inputSchema": SCHEMA, **more}


def listing(*names: str) -> Listing:
    return Listing(tuple(ListedTool(name, "d", SCHEMA) for name in names), "handshake")


def test_a_tool_is_read_as_its_server_describes_it() -> None:
    schema: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}}
    hints: JsonObject = {"readOnlyHint": True}

    tools, odd = read(entry("a.b/c d", inputSchema=schema, annotations=hints))

    assert tools == (ListedTool("a.b/c d", "d", schema, reads=True),)
    assert odd == ()


@pytest.mark.parametrize(
    "bad",
    [
        7,
        {"description": "nameless", "inputSchema": SCHEMA},
        entry(""),
        entry("bell\x07"),
        entry("new\nline"),
        entry("hid\u200bden"),
        entry("x" * 257),
        entry("no schema", inputSchema=None),
        entry("an array", inputSchema={"type": "array"}),
        entry("a text", inputSchema="object"),
        entry("not a number", inputSchema={"default": float("nan")}),
        entry("large", inputSchema={"description": "x" * 300_000}),
    ],
)
def test_what_is_no_tool_is_left_out_and_named_and_costs_no_other(bad: JsonValue) -> None:
    tools, odd = read(entry("first"), bad, entry("last"))

    assert [tool.name for tool in tools] == ["first", "last"]
    assert len(odd) == 1
    assert "\x07" not in odd[0]


def test_a_name_that_stands_there_twice_counts_once() -> None:
    tools, odd = read(entry("a", description="first"), entry("a", description="second"))

    assert [tool.description for tool in tools] == ["first"]
    assert odd == ("it lists the tool a twice: the first one counts",)


def test_a_list_without_an_end_has_one() -> None:
    tools, odd = read(*(entry(f"t{number}") for number in range(MOST_TOOLS + 5)))

    assert len(tools) == MOST_TOOLS
    assert odd == (f"it lists more than {MOST_TOOLS} tools: the others are left out",)


def test_descriptions_lose_what_nobody_sees_and_what_is_over_4_kb() -> None:
    hidden = "look\u202e \U000e0041closely\x1b[2J"
    inner: JsonObject = {"type": "object", "properties": {"p": {"description": "a\u200bb"}}}

    [tool], _ = read(entry("t", description=hidden, inputSchema=inner))
    [long], _ = read(entry("t", description="ä" * 5000))

    assert tool.description == "look closely[2J"
    assert tool.parameters["properties"] == {"p": {"description": "ab"}}
    assert len(long.description.encode()) < 4110


def test_the_digest_is_of_what_is_shown_in_whatever_order() -> None:
    one = ListedTool("t", "d", {"type": "object", "properties": {"a": {}, "b": {}}})
    same = ListedTool("t", "d", {"properties": {"b": {}, "a": {}}, "type": "object"})
    other = ListedTool("t", "D", one.parameters)

    assert one.digest() == same.digest()
    assert one.digest() != other.digest()


def test_choice_takes_what_fits_and_says_which_pattern_fits_nothing() -> None:
    chosen = choose(listing("count", "crash", "wipe", "c.x"), ["c*", "wipe"], ["cr*", "nosuch"])

    assert [tool.name for tool in chosen.tools] == ["count", "wipe", "c.x"]
    assert chosen.unused == ("nosuch",)


def test_only_the_star_is_special_in_a_pattern() -> None:
    chosen = choose(listing("a.b", "axb", "a[b]"), ["a.b", "a[b]"], ())

    assert [tool.name for tool in chosen.tools] == ["a.b", "a[b]"]


def test_what_differs_is_one_line() -> None:
    before = listing("a", "b")
    after = Listing((ListedTool("a", "other", SCHEMA), ListedTool("c", "d", SCHEMA)), "handshake")

    assert difference_words(before, after) == "+ c, - b, changed a"


def test_l29_what_is_left_out_is_told_in_few_lines() -> None:
    tools, odd = read(entry("count"), *[7] * 500)

    assert [tool.name for tool in tools] == ["count"]
    assert len(odd) == 21
    assert odd[-1] == "and 480 more like these"
