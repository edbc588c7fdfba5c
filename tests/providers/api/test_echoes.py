from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.jsontext import JsonValue
from agentsh.providers.api.echoes import Echoes, is_about_thoughts

WHOLE: JsonValue = [{"type": "thinking", "thinking": "let me see", "signature": "EqQ"}]


def merged(*chunks: JsonValue) -> JsonValue:
    echoes = Echoes()
    for chunk in chunks:
        echoes.add("thinking_blocks", chunk)
    return echoes.members().get("thinking_blocks")


def thought(text: str, signature: str | None = None) -> JsonValue:
    return [{"type": "thinking", "thinking": text, "signature": signature}]


@given(st.lists(st.integers(0, 10), max_size=4), st.booleans())
def test_blocks_are_joined_over_the_chunks_however_they_were_cut(
    cuts: list[int], ends_whole: bool
) -> None:
    text = "let me see"
    at = [0, *sorted(cuts), len(text)]
    pieces = [thought(text[a:b]) for a, b in pairwise(at)]

    assert merged(*pieces, thought(text if ends_whole else "", "EqQ")) == WHOLE


def test_a_signature_closes_a_block_and_hidden_ones_stay_whole() -> None:
    hidden: JsonValue = [{"type": "redacted_thinking", "data": "xyz"}]

    assert merged(thought("a", "1"), hidden, thought("b"), thought("c", "2")) == [
        {"type": "thinking", "thinking": "a", "signature": "1"},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "thinking", "thinking": "bc", "signature": "2"},
    ]
    assert merged(WHOLE, WHOLE) == WHOLE


@pytest.mark.parametrize(
    ("name", "goes_back"),
    [
        ("thinking_blocks", True),
        ("thought_signature", True),
        ("reasoning_opaque", True),
        ("encrypted_content", True),
        ("reasoning_content", False),
        ("reasoning", False),
        ("content", False),
        ("tool_calls", False),
        ("annotations", False),
    ],
)
def test_only_members_about_thoughts_go_back(name: str, goes_back: bool) -> None:
    assert is_about_thoughts(name) is goes_back
