"""What the two ends of a line tell is what the codec reads from the whole of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.session.format import entries as e
from agentsh.session.format.codec import decode_line, encode_entry
from agentsh.session.format.linehead import (
    RawLine,
    envelope_of,
    match_head,
    match_whole_line,
    read_line,
    read_line_stamp,
)
from tests.session import strategies as s

# ids as other programs may write them
odd_names = st.sampled_from(
    ["", "ä", 'a"b', "a\\b", "\x7f", "a b", "a\u2028b", "null", "\U0001f600"]
)
ORDERS = (
    ("type", "id", "parentId", "timestamp"),
    # Pi's `custom`
    ("type", "customType", "data", "id", "parentId", "timestamp"),
    ("type", "id", "timestamp", "parentId"),
    ("id", "type", "parentId", "timestamp"),
    ("ash", "type", "id", "parentId", "timestamp"),
)


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """A line of ours, in another order, with other ids and spaces, cut, or with junk around it."""
    line = encode_entry(draw(s.entries))[:-1]
    value: dict[str, Any] = json.loads(line)
    for member in draw(st.lists(st.sampled_from(["id", "parentId", "timestamp", "type"]))):
        value[member] = draw(odd_names | st.none() | st.just("session") | st.integers(0, 9))
    order = draw(st.sampled_from(ORDERS))
    value = {key: value[key] for key in (*order, *value) if key in value}
    comma, colon = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,", ":"), (",", " : ")]))
    text = json.dumps(value, ensure_ascii=draw(st.booleans()), separators=(comma, colon))
    line = text.encode()
    match draw(st.sampled_from(["whole", "whole", "whole", "cut", "junk", "end", "inside"])):
        case "cut":
            return line[: draw(st.integers(0, len(line)))]
        case "junk":
            return (
                draw(st.sampled_from([b"\0\0", b" ", b"x", b"\xff", b"{", b"\xef\xbb\xbf"])) + line
            )
        case "end":
            return line + draw(st.sampled_from([b"\r", b" ", b"\0", b"}", b"x"]))
        case "inside":
            at = draw(st.integers(0, len(line)))
            return (
                line[:at] + draw(st.sampled_from([b"\0", b"\xff", b'"', b"\\", b"}"])) + line[at:]
            )
        case _:
            return line


def _named(value: str | None) -> bytes | None:
    return None if value is None else value.encode()


@given(lines())
def test_a_beginning_tells_what_the_codec_reads(line: bytes) -> None:
    head = match_head(line)
    found = decode_line(line)

    if head is None:
        return
    assert isinstance(found, e.Entry)
    assert (head["id"], head["parent"]) == (found.id.encode(), _named(found.parent))
    assert head["time"] == found.time.encode()
    match found.body:
        case e.Damaged():
            pass
        case e.Custom(custom) | e.CustomMessage(custom) if head["custom"] is not None:
            assert head["custom"] == custom.encode()
        case _:
            assert head["type"] == found.body.type.encode()


@given(s.entries)
def test_a_line_of_ours_is_told_by_its_beginning(entry: e.Entry) -> None:
    line = encode_entry(entry)
    head = match_whole_line(line)

    if not isinstance(entry.body, e.Unknown):
        assert head is not None
    assert head is None or head.end() == len(line)


@given(s.entries)
def test_a_parsed_line_and_a_told_one_are_the_same(entry: e.Entry) -> None:
    line = encode_entry(entry)
    told, parsed = read_line(line), envelope_of(json.loads(line))

    assert told.type == parsed.type
    assert (told.id, told.parent) == (parsed.id.encode(), _named(parsed.parent))
    assert (head := match_head(line)) is None or head["role"] in (None, parsed.role.encode())


@given(lines())
def test_an_end_tells_the_stamp_that_the_codec_reads(line: bytes) -> None:
    mark = read_line_stamp(line)
    found = decode_line(line)

    if mark is None or not isinstance(found, e.Entry) or isinstance(found.body, e.Damaged):
        return
    if found.stamp is not None:
        assert (mark.session, mark.line) == (found.stamp.session, found.stamp.line)
        assert mark.seal in (None, found.stamp.seal)


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"session","id":"a","parentId":null,"timestamp":"t"}',
        b'{"type":"message","id":"","parentId":null,"timestamp":"t"}',
        b'{"type":"message","id":"a","parentId":"","timestamp":"t"}',
        b'{"type":"message","id":"\\u0061","parentId":null,"timestamp":"t"}',
        b'{"type":"message","id":"\xc3\xa4","parentId":null,"timestamp":"t"}',
        b'{"type":"message","id":"a\0","parentId":null,"timestamp":"t"}',
        b'{"type": "message","id":"a","parentId":null,"timestamp":"t"}',
        b'{"id":"a","type":"message","parentId":null,"timestamp":"t"}',
        b' {"type":"message","id":"a","parentId":null,"timestamp":"t"}',
        b'{"type":"message","id":"a","timestamp":"t","parentId":null}',
    ],
)
def test_a_line_that_begins_in_another_way_is_parsed(line: bytes) -> None:
    assert match_head(line) is None
    assert isinstance(read_line(line), RawLine)
    assert read_line(line).fault != "" or read_line(line).parsed is not None
