"""Light or dark: the terminal's answer among the keys, in pieces or whole; nothing else is lost."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.ui.background import AnswerFilter, background_of
from agentsh.ui.terminal import Background

LIGHT = "\x1b]11;rgb:ffff/ffff/f0f0\x1b\\"


def fed(*typed: str) -> tuple[str, list[Background]]:
    heard: list[Background] = []
    answers = AnswerFilter(heard.append)
    return "".join(answers.feed(text) for text in typed), heard


@pytest.mark.parametrize(
    ("colour", "background"),
    [
        ("rgb:ffff/ffff/ffff", "light"),
        ("rgb:fd/f6/e3", "light"),
        ("rgb:0000/2b2b/3636", "dark"),
        ("rgba:1e1e/1e1e/1e1e/ffff", "dark"),
        ("#fff", "unknown"),
        ("", "unknown"),
    ],
)
def test_what_a_colour_is(colour: str, background: Background) -> None:
    assert background_of(colour) == background


def test_an_answer_is_heard_and_not_typed() -> None:
    assert fed(f"ab{LIGHT}cd") == ("abcd", ["light"])
    assert fed("\x1b]11;rgb:00/00/00\x07") == ("", ["dark"])


@given(st.lists(st.integers(0, len(LIGHT) + 4), max_size=4))
def test_an_answer_in_pieces_is_one_where_its_head_came_whole(cuts: list[int]) -> None:
    text = f"ab{LIGHT}cd"
    at = [0, *sorted(c for c in cuts if c <= 2 or c >= 5), len(text)]
    pieces = [text[a:b] for a, b in pairwise(at)]

    assert fed(*pieces) == ("abcd", ["light"])


@given(st.text(st.sampled_from("ab1;]\x1b[O\x07\\"), max_size=12))
def test_keys_are_let_through(typed: str) -> None:
    text, heard = fed(typed, "\x1b[A", "x")

    assert heard == []
    assert text == typed + "\x1b[Ax"


def test_a_lone_escape_is_not_held_back() -> None:
    assert fed("\x1b") == ("\x1b", [])
