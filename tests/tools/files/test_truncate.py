from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentsh.tools.files import truncate
from agentsh.tools.files.truncate import Truncated, split_lines, utf8_size

TEXTS = st.lists(
    st.one_of(
        st.text(alphabet="aé😀\u2028\x85", max_size=12),
        st.integers(1, 400).map(lambda n: "x" * n),
        st.integers(1, 100).map(lambda n: "é" * n),
    ),
    max_size=12,
).map("\n".join)
LIMITS = st.tuples(st.integers(0, 10), st.integers(1, 350))


def _check(text: str, cut: Truncated, limits: tuple[int, int]) -> None:
    max_lines, max_bytes = limits
    assert utf8_size(cut.text) <= max_bytes
    assert cut.lines <= max_lines
    assert cut.total == len(split_lines(text))
    assert cut.is_whole == (cut.text == text)


@given(TEXTS, LIMITS)
def test_head_is_a_beginning_within_the_limits(text: str, limits: tuple[int, int]) -> None:
    cut = truncate.head(text, max_lines=limits[0], max_bytes=limits[1])
    _check(text, cut, limits)
    assert text.startswith(cut.text)
    if cut.clipped is None:
        assert cut.text == "".join(split_lines(text)[: cut.lines])


@given(TEXTS, LIMITS)
def test_tail_is_an_end_within_the_limits(text: str, limits: tuple[int, int]) -> None:
    cut = truncate.tail(text, max_lines=limits[0], max_bytes=limits[1])
    _check(text, cut, limits)
    assert text.endswith(cut.text)
    assert cut.first == cut.total - cut.lines + 1
    if cut.clipped is None:
        assert cut.text == "".join(split_lines(text)[cut.first - 1 :])


@given(TEXTS, st.integers(1, 350))
def test_only_a_line_too_long_by_itself_is_clipped(text: str, max_bytes: int) -> None:
    for cut in (truncate.head(text, max_bytes=max_bytes), truncate.tail(text, max_bytes=max_bytes)):
        if cut.clipped is not None:
            number = cut.lines if cut.first == 1 and text.startswith(cut.text) else cut.first
            lines = split_lines(text)
            assert any(utf8_size(lines[n - 1]) > max_bytes for n in {number, cut.lines, cut.first})


def test_a_line_longer_than_all_is_clipped_and_never_dropped() -> None:
    cut = truncate.tail("x" * 100 + "\nend\n", max_bytes=50)
    assert cut.text == "end\n"  # what is left of the room would tell nothing
    cut = truncate.tail("x" * 100_000 + "\nend\n")
    assert cut.lines == 2
    assert cut.clipped == truncate.MAX_BYTES - 4


def test_separators_other_than_line_feed_are_part_of_a_line() -> None:
    assert split_lines("a\x0bb\u2028c\x85d\r\ne") == ["a\x0bb\u2028c\x85d\r\n", "e"]


def test_sizes_are_said_in_words() -> None:
    assert [truncate.bytes_words(n) for n in (1, 51200, 1_500_000, 5 * 1024**3)] == [
        "1 bytes",
        "50.0 KB",
        "1.4 MB",
        "5.0 GB",
    ]
