"""What a person sees as one character, against the library's reading of the whole text."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth
from wcwidth import iter_graphemes

from agentsh.ui.cells import (
    border,
    cut_painted,
    hang_of,
    painted_width,
    width_of,
    without_last,
    wrapped,
)

PIECES = (
    *("a", " ", "\n", "\r\n", "é", "e\u0301", "\u0301", "\u200d", "👩", "👧", "🏽"),
    *("\ufe0f", "🇩", "🇪", "क्षि", "각", "漢", "0⃣"),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def borders(text: str) -> list[int]:
    return [0, *accumulate(map(len, iter_graphemes(text)))]


@given(st.text(max_size=400) | TEXTS)
def test_a_text_is_as_wide_as_what_draws_it_says(text: str) -> None:
    assert width_of(text) == get_cwidth(text)


@given(TEXTS, st.integers(-2, 60), st.booleans())
def test_u18_a_border_is_the_nearest_one_of_that_side(text: str, at: int, back: bool) -> None:
    all_borders = borders(text)
    inside = max(0, min(at, len(text)))

    wanted = (
        max(b for b in all_borders if b <= inside)
        if back
        else min(b for b in all_borders if b >= inside)
    )
    assert border(text, at, back=back) == wanted


@given(TEXTS)
def test_u18_without_its_last_a_text_is_all_clusters_but_one(text: str) -> None:
    assert without_last(text) == "".join([*iter_graphemes(text)][:-1])


def test_u18_a_line_as_long_as_a_file_is_looked_at_near_the_place_only() -> None:
    line = "漢" * 400_000 + "👩‍👧"

    assert border(line, len(line) - 1, back=True) == 400_000
    assert border(line, 200_000, back=False) == 200_000


WORDS = st.text(st.sampled_from("ab漢é \t-1.•"), max_size=200)


@given(WORDS, st.integers(4, 40), st.integers(0, 30))
def test_a_wrapped_line_fits_loses_nothing_and_stands_in_below(
    text: str, width: int, hang: int
) -> None:
    first, *more = wrapped(text, width, hang)
    margin = " " * min(hang, width // 2)

    assert max(map(width_of, [first, *more])) <= width
    assert all(row.startswith(margin) for row in more)
    assert "".join([first, *more]).replace(" ", "") == text.expandtabs(4).replace(" ", "")


def test_a_word_is_broken_only_where_it_is_longer_than_a_row() -> None:
    assert wrapped("one extraordinary word", 16) == ["one", "extraordinary", "word"]
    assert wrapped("an " + "x" * 20, 10) == ["an xxxxxxx", "xxxxxxxxxx", "xxx"]
    assert wrapped("  - one two three", 12, 4) == ["  - one two", "    three"]


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("+ 12 x = 1", 5),
        ("-2 two", 3),
        ("+added", 1),
        ("    four", 4),
        ("  - item", 4),
        ("10. ten", 4),
        ("words 1. and", 0),
        ("", 0),
    ],
)
def test_a_line_goes_on_below_its_own_text(line: str, cells: int) -> None:
    assert hang_of(line) == cells


def test_codes_take_no_cells_and_stay() -> None:
    assert cut_painted("\x1b[1mheron\x1b[0m road", 3) == "\x1b[1mher\x1b[0m"
    assert painted_width("\x1b[1m漢字\x1b[0m") == 4
