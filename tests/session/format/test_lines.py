"""Lines of a log, both ways."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentsh.session.format import lines
from agentsh.session.format.lines import LineSpan, Read, backward_lines, count_lines, forward_lines

_pieces = st.sampled_from([b"\n", b"a", b"\r\n", b"\xe2\x80\xa8", b"\0", b"x" * 70_000])
_datas = st.lists(_pieces, max_size=12).map(b"".join)


def _reader(data: bytes) -> Read:
    return lambda start, end: data[start:end]


def _naive(data: bytes) -> list[LineSpan]:
    found = []
    at = 0
    parts = data.split(b"\n")
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        if not (is_last and not part):
            found.append(LineSpan(at, at + len(part), part, not is_last))
        at += len(part) + 1
    return found


@given(_datas)
def test_forward_lines_are_what_splitting_at_lf_gives(data: bytes) -> None:
    assert list(forward_lines(_reader(data), 0, len(data))) == _naive(data)


@given(_datas)
def test_backward_lines_are_the_forward_ones_reversed(data: bytes) -> None:
    assert list(backward_lines(_reader(data), len(data))) == _naive(data)[::-1]


@given(_datas)
def test_backward_lines_stop_where_they_are_told(data: bytes) -> None:
    first = data.find(b"\n") + 1
    expected = [line for line in _naive(data) if line.start >= first]

    assert list(backward_lines(_reader(data), len(data), first)) == expected[::-1]


def test_a_line_longer_than_every_block_is_read_in_few_steps() -> None:
    data = b"x" * (20 << 20) + b"\ny\n"
    reads: list[int] = []

    def read(start: int, end: int) -> bytes:
        reads.append(end - start)
        return data[start:end]

    assert [len(line.data) for line in forward_lines(read, 0, len(data))] == [20 << 20, 1]
    assert len(reads) < 20


def test_the_last_line_costs_one_block() -> None:
    data = b"line\n" * 1_000_000
    reads: list[int] = []

    def read(start: int, end: int) -> bytes:
        reads.append(end - start)
        return data[start:end]

    assert next(backward_lines(read, len(data))).data == b"line"
    assert reads == [lines._FIRST_BLOCK]


@given(_datas)
def test_counting_lines_counts_lfs(data: bytes) -> None:
    assert count_lines(_reader(data), len(data)) == data.count(b"\n")
