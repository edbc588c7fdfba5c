from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.jsontext import JsonValue, clean
from agentsh.providers.api.textgate import TextGate, holds_key, mask_text, masked

KEY = "sk-0123456789abcdef"
TEXTS = st.lists(
    st.sampled_from([KEY, KEY[:7], "sk-", "s", "a", " ", "𝄞", "\ud834", "\udd1e", "é"]), max_size=12
).map("".join)


def through(pieces: list[str], *keys: str) -> str:
    gate = TextGate(keys)
    return "".join([*map(gate.feed, pieces), gate.end()])


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["the clef \ud834", "\udd1e stands"], "the clef 𝄞 stands"),
        (["a\ud834"], "a\ufffd"),
        (["a\ud834", "b"], "a\ufffdb"),
        (["\udd1e", "b"], "\ufffdb"),
        (["key: sk-01234", "56789abcdef!"], "key: [key]!"),
        (["it begins sk-0123", " and is none"], "it begins sk-0123 and is none"),
        (["sk-0123456789abcdefsk-0123456789abcdef"], "[key][key]"),
    ],
)
def test_what_was_cut_in_two_is_one(pieces: list[str], text: str) -> None:
    assert through(pieces, KEY) == text


@given(TEXTS, st.lists(st.integers(0, 200), max_size=8))
def test_no_cutting_of_a_text_gives_another_result(text: str, cuts: list[int]) -> None:
    at = [0, *sorted(min(c, len(text)) for c in cuts), len(text)]
    pieces = [text[a:b] for a, b in pairwise(at)]

    assert through(pieces, KEY) == mask_text(clean(text), (KEY,))
    assert KEY not in through(pieces, KEY)


def test_a_key_is_found_and_masked_at_any_depth() -> None:
    value: JsonValue = {"a": [1, {KEY: f"x{KEY}"}], "b": None}

    assert holds_key(value, (KEY,))
    assert masked(value, (KEY,)) == {"a": [1, {"[key]": "x[key]"}], "b": None}
    assert masked(value, ()) is value
