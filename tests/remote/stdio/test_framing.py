"""Bytes ↔ records."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from agentsh.remote.stdio.framing import RecordSplitter, TooLong

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


def test_a_mark_at_the_start_is_no_part_of_the_first_line() -> None:
    splitter = RecordSplitter()
    pieces = (b"\xef\xbb", b'\xbf{"a":1}\n', b"\xef\xbb\xbf{}\n")

    assert [line for piece in pieces for line in splitter.feed(piece)] == [
        b'{"a":1}',
        b"\xef\xbb\xbf{}",
    ]
