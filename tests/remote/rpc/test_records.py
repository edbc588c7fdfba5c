"""Bytes ↔ records."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from agentsh.jsontext import loads_object
from agentsh.remote.rpc.records import (
    NO_DATA,
    NULL,
    RecordSplitter,
    TooLong,
    encode_failure,
    encode_record,
    encode_success,
)
from agentsh.remote.values.rpcrecords import NoticeRecord

TEXT = '{"a":"one\u2028two\u2029three\u0085"}\r\n\n\r\n{"b":1}\n'.encode() + b'{"c":2}'
LINES = ['{"a":"one\u2028two\u2029three\u0085"}'.encode(), b'{"b":1}', b'{"c":2}']


@given(st.lists(st.integers(1, len(TEXT) - 1), max_size=8))
def test_lines_are_the_same_wherever_the_pieces_are_cut(cuts: list[int]) -> None:
    splitter = RecordSplitter()
    places = [0, *sorted(set(cuts)), len(TEXT)]
    pieces = [TEXT[a:b] for a, b in itertools.pairwise(places)]

    lines = [line for piece in pieces for line in splitter.feed(piece)]

    assert [*lines, *splitter.end()] == LINES


@given(st.lists(st.integers(1, 29), max_size=5))
def test_a_line_that_is_too_long_is_one_failure_and_is_skipped_to_its_end(cuts: list[int]) -> None:
    text = b"short\n" + b"x" * 20 + b"\nend\n"
    splitter = RecordSplitter(most=8)
    places = [0, *sorted(set(cuts)), len(text)]

    lines = [line for a, b in itertools.pairwise(places) for line in splitter.feed(text[a:b])]

    assert lines == [b"short", TooLong(), b"end"]
    assert splitter.end() == []


def test_a_record_is_one_line_and_holds_what_looks_like_an_end_of_one() -> None:
    record = encode_record(NoticeRecord("info", "a\u2028b\nc"))

    assert record.count(b"\n") == 1
    assert record.endswith(b"\n")
    assert loads_object(record) == {"type": "notice", "level": "info", "text": "a\u2028b\nc"}


def test_a_response_gives_the_id_back_as_it_was() -> None:
    done = loads_object(encode_success(7, "get_state", {"x": 1}))

    assert done == {
        "id": 7,
        "type": "response",
        "command": "get_state",
        "success": True,
        "data": {"x": 1},
    }
    assert "id" not in loads_object(encode_failure(None, "parse", "no", "usage"))


def test_a_response_without_data_has_none_and_null_is_data() -> None:
    assert "data" not in loads_object(encode_success("a", "abort", NO_DATA))
    assert loads_object(encode_success("a", "cycle_model", NULL))["data"] is None
