"""Content blocks: whatever stands in a file is read as a block and written back as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import Image, Text, Thinking, ToolCall, ToolCallId
from agentsh.session.format.blockcodec import (
    decode_any_blocks,
    decode_assistant_blocks,
    decode_user_blocks,
    encode_blocks,
)

_KIND = st.sampled_from(["text", "image", "thinking", "toolCall", "novel"])
_NAME = st.sampled_from(
    ["text", "data", "mimeType", "thinking", "thinkingSignature", "redacted", "id", "name"]
)
_VALUE = st.one_of(st.none(), st.booleans(), st.integers(0, 9), st.text(max_size=3))


@pytest.mark.parametrize(
    ("item", "block"),
    [
        ({"type": "text", "text": "a"}, Text("a")),
        ({"type": "text", "text": "a", "x": 1}, Text("a", {"x": 1})),
        ("a", Text("a")),
        (7, Text("", {"type": "unknown", "value": 7})),
        ({"type": ["text"]}, Text("", {"type": ["text"]})),
        ({"type": "novel", "x": 1}, Text("", {"type": "novel", "x": 1})),
        ({"x": 1}, Text("", {"type": "unknown", "x": 1})),
        (
            {"type": "thinking", "thinking": "t", "redacted": True, "thinkingSignature": "s"},
            Thinking("t", signature="s", redacted=True),
        ),
        (
            {"type": "thinking", "thinking": "t", "redacted": "yes", "thinkingSignature": None},
            Thinking("t", extra={"redacted": "yes"}),
        ),
        (
            {"type": "toolCall", "id": "c", "name": "ls", "arguments": {"path": "."}},
            ToolCall(ToolCallId("c"), "ls", {"path": "."}),
        ),
        (
            {"type": "toolCall", "id": "c", "name": "ls", "arguments": '{"path"'},
            ToolCall(
                ToolCallId("c"),
                "ls",
                {},
                raw_arguments='{"path"',
                arguments_error="the arguments are text, not an object",
            ),
        ),
    ],
)
def test_a_block_of_an_answer(item: JsonValue, block: object) -> None:
    assert decode_assistant_blocks([item]) == (block,)


@pytest.mark.parametrize(
    ("content", "blocks"), [("words", (Text("words"),)), ("", ()), (None, ()), (7, ())]
)
def test_an_answer_without_a_list_of_blocks(content: JsonValue, blocks: object) -> None:
    assert decode_assistant_blocks(content) == blocks


def test_a_picture_is_one_only_with_its_bytes_and_its_type() -> None:
    whole: JsonValue = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    half: JsonObject = {"type": "image", "data": "aGk="}

    assert decode_user_blocks([whole, half]) == (Image("aGk=", "image/png"), Text("", half))


def test_where_no_role_is_told_each_block_says_what_it_is() -> None:
    items: JsonValue = [
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "thinking", "thinking": "t"},
        "plain",
    ]

    assert decode_any_blocks(items) == (Image("aGk=", "image/png"), Thinking("t"), Text("plain"))
    assert decode_any_blocks("words") == (Text("words"),)


@given(st.lists(st.tuples(_KIND, st.dictionaries(_NAME, _VALUE, max_size=4)), max_size=4))
def test_what_was_read_is_written_so_that_it_reads_the_same(
    drawn: list[tuple[str, dict[str, JsonValue]]],
) -> None:
    items: list[JsonValue] = [{**members, "type": kind} for kind, members in drawn]
    blocks = decode_any_blocks(items)

    assert decode_any_blocks(encode_blocks(blocks)) == blocks
