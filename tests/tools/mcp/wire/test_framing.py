"""Lines of a pipe: whole however the bytes are cut, and never longer than the bound."""

from __future__ import annotations

from itertools import chain, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.tools.mcp.wire.framing import LineSplitter, LineTooLongError


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=6))
def test_lines_are_the_same_however_the_bytes_are_cut(data: bytes, cuts: list[int]) -> None:
    splitter = LineSplitter(100)
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[a:b] for a, b in pairwise(places)]

    assert [line for piece in pieces for line in splitter.feed(piece)] == data.split(b"\n")[:-1]


@pytest.mark.parametrize("pieces", [[b"12345\n"], [b"123", b"45"], [b"1\n", b"12345\n2\n"]])
def test_a_line_over_the_bound_is_noticed_with_its_end_or_without(pieces: list[bytes]) -> None:
    splitter = LineSplitter(4)
    with pytest.raises(LineTooLongError):
        list(chain.from_iterable(map(splitter.feed, pieces)))
