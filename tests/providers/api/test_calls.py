from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import ToolCall, ToolCallId
from agentsh.providers.api.calls import (
    BROKE_OFF,
    CUT_AT_LIMIT,
    KEY_INSIDE,
    CallAssembler,
    mark,
    read_arguments,
)

NOTE, OTHER = '{"path":"note"}', '{"path":"other"}'


def piece(name: str | None = None, arguments: JsonValue = None, **members: JsonValue) -> JsonObject:
    return {**members, "function": {"name": name, "arguments": arguments}}


def assemble(*fragments: JsonObject, trouble: str | None = None) -> tuple[ToolCall, ...]:
    assembler = CallAssembler()
    for fragment in fragments:
        assembler.take(fragment)
    return assembler.finish(trouble)


def two(*fragments: JsonObject) -> list[tuple[str, str, object]]:
    return [(c.id, c.name, c.arguments.get("path")) for c in assemble(*fragments)]


BOTH = [("a", "read", "note"), ("b", "ls", "other")]


@pytest.mark.parametrize(
    "fragments",
    [
        [piece("read", NOTE, id="a"), piece("ls", OTHER, id="b")],
        [
            piece("read", NOTE[:8], id="a"),
            piece(None, NOTE[8:]),
            piece("ls", "", id="b"),
            piece(None, OTHER[:5]),
            piece(None, OTHER[5:]),
        ],
        [
            piece("read", NOTE[:8], index=0, id="a"),
            piece("ls", OTHER[:8], index=1, id="b"),
            piece(None, NOTE[8:], index=0, id=None),
            piece(None, OTHER[8:], index=1, id=""),
        ],
        # every call at index 0, told apart by its id
        [
            piece("read", NOTE[:8], index=0, id="a"),
            piece(None, NOTE[8:], index=0),
            piece("ls", OTHER, index=0, id="b"),
        ],
        # the head of the second call at the index of the first, its rest at its own
        [
            piece("read", NOTE[:8], index=0, id="a"),
            piece(None, NOTE[8:], index=0),
            piece("ls", "", index=0, id="b"),
            piece(None, OTHER[:5], index=1),
            piece(None, OTHER[5:], index=1),
        ],
        # all arguments at an index that nothing began
        [
            piece("read", "", index=0, id="a"),
            piece(None, NOTE[:8], index=1),
            piece(None, NOTE[8:], index=1),
            piece("ls", "", index=2, id="b"),
            piece(None, OTHER, index=3),
        ],
        # an index that changes, with the id in every fragment
        [
            piece("read", NOTE[:8], index=0, id="a"),
            piece("ls", OTHER[:5], index=1, id="b"),
            piece(None, NOTE[8:], index=2, id="a"),
            piece(None, OTHER[5:], index=3, id="b"),
        ],
        # id and name in every fragment
        [
            piece("read", NOTE[:8], index=0, id="a"),
            piece("read", NOTE[8:], index=0, id="a"),
            piece("ls", OTHER, index=1, id="b"),
        ],
        # a closing summary of a whole call
        [
            piece("read", NOTE, index=0, id="a"),
            piece("ls", OTHER, index=1, id="b"),
            piece("ls", OTHER, index=1, id="b"),
        ],
        # an index as text, and inside the function
        [
            piece("read", NOTE, index="0", id="a"),
            {"id": "b", "function": {"index": 1, "name": "ls", "arguments": OTHER}},
        ],
    ],
)
def test_every_spelling_of_two_calls_is_two_calls(fragments: list[JsonObject]) -> None:
    assert two(*fragments) == BOTH


@pytest.mark.parametrize("members", [{}, {"id": ""}, {"id": None}])
@pytest.mark.parametrize("indexes", [(0, 1), (0, 0), (None, None)])
def test_calls_without_ids_get_different_ones(
    members: JsonObject, indexes: tuple[int | None, int | None]
) -> None:
    made = assemble(
        piece("read", NOTE, index=indexes[0], **members),
        piece("ls", OTHER, index=indexes[1], **members),
    )

    assert [c.id for c in made] == ["call_0", "call_1"]
    assert [c.name for c in made] == ["read", "ls"]


def test_an_id_that_was_used_in_the_message_is_made_another() -> None:
    made = assemble(piece("ls", "{}", index=0, id="a"), piece("ls", NOTE, index=1, id="a"))

    assert [c.id for c in made] == ["a", "a_2"]


@pytest.mark.parametrize(
    "arguments",
    [
        [json.dumps(NOTE)],
        [json.dumps(NOTE)[:7], json.dumps(NOTE)[7:]],
        [f" {json.dumps(NOTE)}\n"],
    ],
)
def test_e40_arguments_that_are_spelled_twice_are_the_object(arguments: list[str]) -> None:
    first, *others = arguments
    call, then = assemble(
        piece("read", first, index=0, id="a"),
        *(piece(None, other, index=0) for other in others),
        piece("ls", OTHER, index=0),  # no id, and the index of the first: that one must be whole
    )

    assert (call.arguments, call.arguments_error) == ({"path": "note"}, None)
    assert (then.name, then.arguments) == ("ls", {"path": "other"})


@pytest.mark.parametrize("bad", [json.dumps("a"), json.dumps(json.dumps(NOTE)), json.dumps("{")])
def test_e40_a_text_that_is_no_object_is_never_run(bad: str) -> None:
    call = assemble(piece("read", bad, index=0, id="a"))[0]

    assert (call.arguments, call.raw_arguments) == ({}, bad)


@pytest.mark.parametrize(
    "fragments",
    [
        [piece("read", NOTE, index=i, id="a") for i in range(3)],
        [piece("read", "", index=0, id="a"), piece("read", NOTE, index=1, id="a")],
        [piece("read", NOTE[:i], index=i, id="a") for i in range(len(NOTE) + 1)],
        [piece("read", NOTE[:4], index=0, id="a"), piece("read", NOTE[4:], index=1, id="a")],
        [piece("read", NOTE, index=0, id="a"), piece("read", NOTE[:4], index=1, id="a")],
        [
            piece("read", '{ "path": "note" }', index=0, id="a"),
            piece("read", NOTE, index=4, id="a"),
        ],
    ],
)
def test_e41_one_call_at_several_indices_is_run_once(fragments: list[JsonObject]) -> None:
    assert two(*fragments, piece("ls", OTHER, index=9, id="b")) == BOTH


def test_e41_two_calls_that_say_different_things_are_two() -> None:
    made = two(piece("read", NOTE, index=0, id="a"), piece("read", OTHER, index=1, id="a"))

    assert made == [("a", "read", "note"), ("a_2", "read", "other")]


def test_arguments_may_be_an_object() -> None:
    assert assemble(piece("read", {"path": "a"}, index=0, id="a"))[0].arguments == {"path": "a"}


@pytest.mark.parametrize("empty", ["", " \n", None])
def test_no_arguments_are_an_empty_object(empty: str | None) -> None:
    call = assemble(piece("ls", empty, index=0, id="a"))[0]

    assert call == ToolCall(ToolCallId("a"), "ls", {})


@pytest.mark.parametrize("bad", ['{"path":"a","limit:: 5}', '["a"]', '"a"', "7", "null", "{}{}"])
def test_arguments_that_are_no_object_are_kept_raw_and_never_repaired(bad: str) -> None:
    call = assemble(piece("read", bad, index=0, id="a"))[0]

    assert (call.arguments, call.raw_arguments) == ({}, bad)
    assert call.arguments_error


def test_a_line_break_that_the_model_did_not_escape_is_one() -> None:
    (call,) = assemble(piece("bash", '{"command":"cat <<E\n\tx\nE"}'))

    assert (call.arguments, call.arguments_error) == ({"command": "cat <<E\n\tx\nE"}, None)


def test_unknown_members_of_a_call_are_kept() -> None:
    signed: JsonObject = {"google": {"thought_signature": "abc"}}

    assert assemble(piece("read", NOTE, index=0, id="a", type="function", extra_content=signed))[
        0
    ].extra == {"extra_content": signed}


def test_the_limit_marks_only_what_is_not_whole() -> None:
    made = assemble(
        piece("read", NOTE, index=0, id="a"),
        piece("ls", '{"pa', index=1, id="b"),
        trouble=CUT_AT_LIMIT,
    )

    assert [c.arguments_error for c in made] == [None, CUT_AT_LIMIT]


def test_what_broke_off_is_marked_whole_or_not() -> None:
    made = assemble(piece("read", NOTE, index=0, id="a"), trouble=BROKE_OFF)

    assert (made[0].arguments, made[0].arguments_error) == ({}, BROKE_OFF)
    assert mark(made, "no")[0].arguments_error == "no"


@given(
    st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=9), max_size=4),
    st.lists(st.integers(0, 200), max_size=6),
)
def test_arguments_survive_any_cutting(arguments: dict[str, int | str], cuts: list[int]) -> None:
    text = json.dumps(arguments)
    at = [0, *sorted(min(c, len(text)) for c in cuts), len(text)]
    pieces = [text[a:b] for a, b in itertools.pairwise(at)]
    made = assemble(piece("read", "", index=0, id="a"), *(piece(None, p, index=0) for p in pieces))

    assert made[0].arguments == arguments


def test_reading_arguments_says_what_is_wrong() -> None:
    assert read_arguments("[1]")[1] == "the arguments are valid JSON but not an object"


@pytest.mark.parametrize(
    "pieces",
    [
        ['{"pa', '{"path":"n', '{"path":"note"}'],
        ['{"pa', 'th":"note"}', '{"path": "note"}'],
        ['{"pa', '{"path":"note"}', '{ "path" : "note" }'],
        ['{"path":"note"}', '{"path": "note"}'],
        ["{}", '{"pa', 'th":"note"}'],
        ["{}", '{"pa', '{"path":"note"}'],
        ['{"path":"note"}', "{}"],
        ["{}", '{"path":"note"}', "{}"],
    ],
)
def test_the_whole_once_more_in_any_spelling_is_one_call(pieces: list[str]) -> None:
    made = assemble(
        piece("read", pieces[0], index=0, id="a"), *(piece(None, p, index=0) for p in pieces[1:])
    )

    assert [c.arguments for c in made] == [{"path": "note"}]


@pytest.mark.parametrize(
    "pieces", [['{"a":1}', '{"a":2}'], ['{"pa', 'xx', '{"path":"note"}'], ['{"a":', '{"a":1'],]
)  # fmt: skip
def test_where_pieces_disagree_nothing_is_guessed(pieces: list[str]) -> None:
    made = assemble(*(piece("read", p, index=0, id="a") for p in pieces))

    assert (made[0].arguments, made[0].raw_arguments) == ({}, "".join(pieces))


@given(st.dictionaries(st.text(max_size=5), st.integers(), max_size=4), st.data())
def test_snapshots_of_any_object_are_that_object(
    arguments: dict[str, int], data: st.DataObject
) -> None:
    text = json.dumps(arguments)
    ends = sorted(data.draw(st.sets(st.integers(1, len(text)), max_size=6)) | {len(text)})
    made = assemble(
        piece("read", "", index=0, id="a"), *(piece(None, text[:end], index=0) for end in ends)
    )

    assert made[0].arguments == arguments


def test_halves_of_a_character_in_two_pieces_are_one() -> None:
    made = assemble(
        piece("write", '{"c":"x \ud834', index=0, id="a"), piece(None, '\udd1e"}', index=0)
    )

    assert made[0].arguments == {"c": "x 𝄞"}


def test_a_call_that_holds_the_key_is_not_run_and_not_stored_with_it() -> None:
    key = "sk-0123456789abcdef"
    assembler = CallAssembler((key,))
    assembler.take(piece("write", f'{{"c":"{key}"}}', index=0, id="a"))
    (call,) = assembler.finish()

    assert (call.arguments, call.arguments_error) == ({}, KEY_INSIDE)
    assert call.raw_arguments == '{"c":"[key]"}'
