from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.tools.controls import harmless


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
