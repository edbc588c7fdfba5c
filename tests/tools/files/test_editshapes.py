"""Shapes of an edit call: what can be read in one way is taken, all else is refused."""

from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.errors import InvalidArgumentsError
from agentsh.jsontext import JsonObject, JsonValue, dumps_text
from agentsh.tools.files.edit import EditTool
from agentsh.tools.files.editshapes import SHAPE
from tests.support.tooling import Bench

EDIT = EditTool()
OLD = ("oldText", "old_text", "oldString", "old_string", "oldStr", "old_str")
NEW = ("newText", "new_text", "newString", "new_string", "newStr", "new_str")

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
pairs = st.tuples(texts, texts)


@st.composite
def shaped(draw: st.DrawFn) -> tuple[list[tuple[str, str]], JsonObject]:
    """(replacements, a call that gives them in some shape)"""
    wanted = draw(st.lists(pairs, min_size=1, max_size=12, unique=True))
    given: JsonObject = {"path": "f"}
    items: list[JsonValue] = []
    for old, new in wanted:
        item: JsonObject = {draw(st.sampled_from(OLD)): old, draw(st.sampled_from(NEW)): new}
        if draw(st.booleans()):
            item["why"] = draw(texts)
        items.append(dumps_text(item) if draw(st.booleans()) else item)
    shape = draw(st.sampled_from(["list", "numbered", "one", "flat", "both"]))
    edits: JsonValue = items
    if shape == "numbered":
        first = draw(st.integers(0, 3))
        numbered: JsonObject = {str(first + i): item for i, item in enumerate(items)}
        edits = dict(draw(st.permutations(list(numbered.items()))))
    elif shape == "one":
        wanted = wanted[:1]
        edits = {"old_str": wanted[0][0], "newText": wanted[0][1]}
    elif shape == "flat":
        wanted = wanted[-1:]
        edits = draw(st.sampled_from([None, [], "[]"]))
    elif shape == "both" and draw(st.booleans()):
        edits = items[:-1]  # else the flat one stands in the list, too, and counts once
    if shape in ("flat", "both"):
        given[draw(st.sampled_from(OLD))], given[draw(st.sampled_from(NEW))] = wanted[-1]
    for _ in range(draw(st.integers(0, 2)) if edits is not None else 0):
        edits = dumps_text(edits)
    return wanted, {**given, "edits": edits}


@given(shaped())
def test_whatever_the_shape_the_replacements_are_those_that_were_meant(
    drawn: tuple[list[tuple[str, str]], JsonObject],
) -> None:
    wanted, call = drawn
    stored = deepcopy(call)

    assert EDIT.check(call) == {
        "path": "f",
        "edits": [{"oldText": old, "newText": new} for old, new in wanted],
    }
    assert call == stored


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*OLD, *NEW, "0", "1", "x"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(anything, st.dictionaries(st.sampled_from([*OLD, *NEW]), anything, max_size=3))
def test_any_other_shape_is_an_error_that_shows_the_right_one(
    edits: JsonValue, flat: JsonObject
) -> None:
    said = ""
    found: JsonValue = None
    try:
        found = EDIT.check({"path": "f", "edits": edits, **flat})["edits"]
    except InvalidArgumentsError as e:
        said = str(e)

    assert SHAPE in said or found
    for edit in found if isinstance(found, list) else ():
        assert isinstance(edit, dict)
        assert {name: type(text) for name, text in edit.items()} == {"oldText": str, "newText": str}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "edits holds no replacement"),
        ({"edits": []}, "edits holds no replacement"),
        ({"edits": {}}, "edits holds no replacement"),
        ({"edits": "{"}, "edits is a text that is no JSON"),
        ({"edits": 5}, "edits is no list"),
        ({"edits": {"f": {"oldText": "a", "newText": "b"}}}, "edits is an object without oldText"),
        ({"edits": ["a", "b"]}, r"edits\[0\] is no object"),
        ({"edits": {"0": ["a", "b"]}}, r"edits\[0\] is no object"),
        ({"edits": [{"oldText": "a"}]}, r"edits\[0\].newText is missing"),
        ({"edits": [{"oldText": 1, "newText": ""}]}, r"edits\[0\].oldText is no text"),
        ({"oldText": "x"}, "newText is missing"),
        ({"oldText": "x", "old_str": "y", "newText": ""}, "oldText is given twice, with different"),
    ],
)
def test_what_can_be_read_in_no_way_or_in_two_is_refused_and_says_why(
    arguments: JsonObject, why: str
) -> None:
    with pytest.raises(InvalidArgumentsError, match=why):
        EDIT.check({"path": "f", **arguments})


def test_a_line_break_that_was_not_escaped_stands_for_itself() -> None:
    edits = '[{"oldText": "a\nb", "newText": "one\n\ttwo \\"q\\""}]'

    assert EDIT.check({"path": "f", "edits": edits}) == {
        "path": "f",
        "edits": [{"oldText": "a\nb", "newText": 'one\n\ttwo "q"'}],
    }


def test_the_path_is_asked_for_whatever_the_shape() -> None:
    with pytest.raises(InvalidArgumentsError, match="path is missing"):
        EDIT.check({"old_string": "x", "new_string": "y"})


def test_a_call_in_the_words_of_another_tool_edits_the_file(bench: Bench) -> None:
    path = bench.file("f", "one\ntwo\n")

    bench.outcome(EDIT, path="f", edits={"0": {"old_string": "one", "new_string": "1"}})
    bench.outcome(EDIT, path="f", old_str="two", new_str="2")

    assert path.read_text() == "1\n2\n"
