from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.tools.shell.controls import harmless, settled


@given(
    st.text(
        alphabet=st.sampled_from("\x1b[]PX^_\\;0123m\x07\x9b\x90\x9c\ra\n\t\x7f\x00(B"), max_size=60
    )
)
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    made = harmless(text)
    assert not [c for c in made if unicodedata.category(c) == "Cc" and c not in "\t\n"]
    assert harmless(made) == made


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cs"]), max_size=60))
def test_plain_text_stays(text: str) -> None:
    assert harmless(text) == text


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "xlink"),
        ("\x1bP1$r\x1b\\x\x1b(B\x1b=", "x"),
        ("\x1b]52;c;never ended", "␛]52;c;never ended"),
        ("a\r\nb\rc\r\r\nd", "a\nb\nc\nd"),
        ("\x00\x07\x7f\x9b\ud800", "␀␇␡\ufffd\ufffd"),
    ],
)
def test_sequences_are_dropped_and_the_rest_is_shown(text: str, want: str) -> None:
    assert harmless(text) == want


def test_many_unfinished_sequences_cost_no_more_than_their_length() -> None:
    assert len(harmless("\x1b]" * 20_000)) == 40_000


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("10%\r20%\r100%\ndone", "100%\ndone"),
        ("compiling\rdone\n", "doneiling\n"),
        ("compiling\r\x1b[Kdone", "done"),
        ("compiling\x1b[2K\rdone", "done"),
        ("a long line\rshort\x1b[K", "short"),
        ("x\r\x1b[2Ky", "y"),
        ("a\r\nb\r\r\nc", "a\nb\nc"),
        ("\x1b[32mlong line\x1b[0m\rshort", "shortline"),
        ("/\b-\b\\\b|", "|"),
        ("\b\bab", "ab"),
        ("one\r", "one"),
        ("\r", ""),
        ("no redrawing\tat all", "no redrawing\tat all"),
    ],
)
def test_a_line_is_what_a_terminal_shows_in_the_end(text: str, want: str) -> None:
    assert settled(text) == want


@given(st.text(alphabet="ab\r\n", max_size=40))
def test_settling_is_writing_over_and_settled_text_stays(text: str) -> None:
    want = []
    for line in text.split("\n"):
        cells: list[str] = []
        for piece in line.split("\r"):
            cells[: len(piece)] = piece
        want.append("".join(cells))

    assert settled(text) == "\n".join(want)
    assert settled(settled(text)) == settled(text)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("\x1b[2K\x1b[1G 1 of 2\x1b[2K\x1b[1G 2 of 2\n", " 2 of 2\n"),
        ("a 1\nb 1\n\x1b[2Aa 22\nb 2\nover", "a 22\nb 2\nover"),
        ("total\n\rpart 1\x1b[A\rtotal 2\n\rpart 2\n", "total 2\npart 2\n"),
        ("a\nb\nc\x1b[2F\x1b[0Jall done\n", "all done\n"),
        ("\x1b[99Aup\x1b[1Bdown", "down"),
    ],
)
def test_rows_that_are_drawn_again_are_what_a_terminal_shows_in_the_end(
    text: str, want: str
) -> None:
    assert settled(text) == want


def test_in_the_middle_of_a_redraw_the_place_of_the_cursor_is_kept() -> None:
    half = settled("a 1\nb 1\n\x1b[2Aa 2\n")

    assert settled(half + "b 2\n") == "a 2\nb 2\n"
    assert harmless(half) == "a 2\nb 1\n"
