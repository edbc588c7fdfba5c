"""Light or dark: what an answer of the terminal says."""

from __future__ import annotations

import pytest

from agentsh.ui.input.background_colour import background_of, heard
from agentsh.ui.terminal import Background


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


def test_only_the_answer_about_the_background_is_one() -> None:
    assert heard("11;rgb:fd/f6/e3") == "light"
    assert heard("10;rgb:fd/f6/e3") is None
    assert heard("52;c;QUJD") is None
