"""Lines and entries: what is written comes back, what is odd is read around."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh import jsontext
from agentsh.messages import AssistantMessage, Text, Usage, UserMessage
from agentsh.session.format import entries as e
from agentsh.session.format.codec import (
    Unreadable,
    decode_line,
    encode_entry,
    encode_header,
    salvage_entry,
)
from tests.session import strategies as s
from tests.support.mutated import mutated


@given(s.entries)
def test_an_entry_comes_back_with_every_member(entry: e.Entry) -> None:
    line = encode_entry(entry)

    assert decode_line(line) == entry
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1


@given(s.headers)
def test_a_header_comes_back_with_every_member(header: e.Header) -> None:
    assert decode_line(encode_header(header)) == header


@given(s.entries)
def test_a_line_begins_with_its_place_and_ends_with_its_stamp(entry: e.Entry) -> None:
    keys = list(json.loads(encode_entry(entry)))

    assert keys[:4] == ["type", "id", "parentId", "timestamp"]
    assert (keys[-1] == "ash") == (entry.stamp is not None)


@given(st.binary(max_size=80) | s.entries.map(encode_entry), st.integers(0, 400))
def test_no_line_raises_whatever_it_holds(data: bytes, cut: int) -> None:
    found = decode_line(data[:cut])

    assert isinstance(found, e.Entry | e.Header | Unreadable)


def _line(**members: object) -> e.Entry:
    whole = {"type": "message", "id": "a", "parentId": None, "timestamp": "t", **members}
    found = decode_line(json.dumps(whole).encode())
    assert isinstance(found, e.Entry)
    return found


@given(s.entries, st.randoms(use_true_random=False))
def test_no_value_of_a_wrong_kind_raises_wherever_it_stands(
    entry: e.Entry, chance: random.Random
) -> None:
    for line in mutated(chance, [encode_entry(entry).rstrip(b"\n")]):
        found = decode_line(line)
        if isinstance(found, e.Entry) and not isinstance(found.body, e.Damaged):
            assert isinstance(encode_entry(found), bytes)


@pytest.mark.parametrize("depth", [300, 1_000, 100_000])
def test_a_line_that_is_nested_too_deep_is_damaged_and_keeps_its_place(depth: int) -> None:
    deep = b"[" * depth + b"]" * depth
    begin = b'{"type":"custom","id":"a","parentId":"b","timestamp":"t","customType":"c","data":'

    found = decode_line(begin + deep + b"}")

    assert found == e.Entry(e.EntryId("a"), e.EntryId("b"), "t", e.Damaged("nested too deep"))


def test_what_could_not_be_read_again_is_not_written() -> None:
    deep: jsontext.JsonValue = 0
    for _ in range(jsontext.DEEPEST):
        deep = [deep]

    with pytest.raises(jsontext.JsonError, match="deep"):
        encode_entry(e.Entry(e.EntryId("a"), None, "t", e.Custom("c", deep)))


def test_an_unknown_type_is_kept_as_it_is_and_written_as_it_was() -> None:
    raw = {"type": "future", "id": "a", "parentId": None, "timestamp": "t", "payload": [1]}
    entry = _line(**raw)

    assert entry.body == e.Unknown("future", raw)  # type: ignore[arg-type]
    assert json.loads(encode_entry(entry)) == raw


def test_content_may_be_null_or_a_string() -> None:
    assert _line(message={"role": "user", "content": None}).body == e.MessageBody(UserMessage(()))
    assert _line(message={"role": "user", "content": "hi"}).body == e.MessageBody(
        UserMessage((Text("hi"),))
    )


def test_an_assistant_message_without_usage_has_none_spent() -> None:
    body = _line(message={"role": "assistant", "content": "x", "stopReason": "later"}).body

    assert isinstance(body, e.MessageBody)
    assert isinstance(body.message, AssistantMessage)
    assert body.message.usage == Usage()
    assert body.message.content == (Text("x"),)
    # a reason that this version does not know survives beside the one that it acts on
    assert (body.message.stop_reason, body.message.extra) == ("stop", {"stopReason": "later"})


def test_an_assistant_message_is_written_with_all_that_pi_needs() -> None:
    message = AssistantMessage((), "api", "p", "m", Usage(), "stop", 5)
    line = encode_entry(e.Entry(e.EntryId("a"), None, "t", e.MessageBody(message)))

    assert json.loads(line)["message"] == {
        "role": "assistant",
        "content": [],
        "api": "api",
        "provider": "p",
        "model": "m",
        "usage": {
            "input": 0,
            "output": 0,
            "cacheRead": 0,
            "cacheWrite": 0,
            "reasoning": 0,
            "totalTokens": 0,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
        },
        "stopReason": "stop",
        "timestamp": 5,
    }


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"provider": "p", "modelId": "m"}, ("p", "m")),
        ({"model": "p/m/x"}, ("p", "m/x")),
        ({"model": "m"}, ("", "m")),
        ({"provider": "p", "model": "q/m"}, ("p", "q/m")),
    ],
)
def test_a_model_change_is_read_in_its_dialects(
    members: dict[str, str], expected: tuple[str, str]
) -> None:
    assert _line(type="model_change", **members).body == e.ModelChange(*expected)


def test_a_member_of_a_wrong_type_is_kept_and_written_again() -> None:
    entry = _line(type="thinking_level_change", thinkingLevel=7)

    assert entry.body == e.ThinkingLevelChange("off")
    assert entry.extra == {"thinkingLevel": 7}


def test_a_message_that_is_no_object_is_an_unknown_entry() -> None:
    assert isinstance(_line(message="text").body, e.Unknown)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"type":"message","id":"a1","parentId":"b2","timestamp":"t","mess', ("a1", "b2")),
        (b'{"id": "a1", "parentId": null, "timestamp": "t", "type": "mess', ("a1", None)),
        (
            b'{"type":"custom","data":{"id":"no",,"id":"a1","parentId":"b2","timestamp":"t"}',
            ("a1", "b2"),
        ),
    ],
)
def test_id_and_parent_are_salvaged_from_a_broken_line(
    line: bytes, expected: tuple[str, str | None]
) -> None:
    found = salvage_entry(line, "broken")

    assert isinstance(found, e.Entry)
    assert (found.id, found.parent) == expected
    assert found.body == e.Damaged("broken")


@pytest.mark.parametrize(
    "line", [b"not json", b'{"type":', b"[1]", b'"a"', b"null", b"\0\0", b"{}"]
)
def test_a_line_without_an_id_is_unreadable(line: bytes) -> None:
    assert isinstance(decode_line(line), Unreadable)


def test_a_damaged_entry_is_never_written_anew() -> None:
    entry = e.Entry(e.EntryId("a"), None, "t", e.Damaged("x"))

    with pytest.raises(ValueError, match="not understood"):
        encode_entry(entry)


def test_what_json_cannot_hold_is_refused() -> None:
    entry = e.Entry(e.EntryId("a"), None, "t", e.Custom("x", float("nan")))

    with pytest.raises(jsontext.JsonError):
        encode_entry(entry)


def test_line_ends_of_other_rules_stay_inside_a_line() -> None:
    text = "a\u2028b\u2029c\x85d\x1ce\r\nf\0g"
    entry = e.Entry(e.EntryId("a"), None, "t", e.MessageBody(UserMessage((Text(text),))))

    line = encode_entry(entry)

    assert line.count(b"\n") == 1
    assert decode_line(line) == entry
