from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.providers.api.thinktags import ThinkTags

QUOTED = "The tag `</think>` ends the thoughts of some models."
FENCED = "Some models write:\n\n```\n<think>\nhm\n</think>\nyes\n```\n\nSo do not cut it."


def through(pieces: list[str]) -> list[tuple[str, str]]:
    """The runs, neighbours of one kind joined."""
    tags = ThinkTags()
    found = [part for piece in pieces for part in tags.feed(piece)] + tags.end()
    joined: list[tuple[str, str]] = []
    for kind, text in found:
        if joined and joined[-1][0] == kind:
            joined[-1] = (kind, joined[-1][1] + text)
        else:
            joined.append((kind, text))
    return joined


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("<think>\nhm\n</think>\n\nYes.", [("thought", "hm\n"), ("text", "Yes.")]),
        ("\n <thinking>a</thinking> b", [("thought", "a"), ("text", "b")]),
        ("<think></think>\n\nYes.", [("text", "Yes.")]),
        ("<Think>\nhm</Think>\nYes.", [("thought", "hm"), ("text", "Yes.")]),
        ("<think>a</think><think>b</think>c", [("thought", "ab"), ("text", "c")]),
        ("<think>never closed", [("thought", "never closed")]),
        ("First.\nThen.\n</think>\n\nThe sum.", [("text", "First.\nThen.\n\n\nThe sum.")]),
        ("First.</think>\nThe sum.", [("text", "First.\nThe sum.")]),
        ("</think>The sum.", [("text", "The sum.")]),
        ("Say <think> or </think> there.", [("text", "Say <think> or </think> there.")]),
        ("a < b and <th", [("text", "a < b and <th")]),
        ("<thimble>", [("text", "<thimble>")]),
        ("\n\n  ", []),
        ("\n\n  x", [("text", "\n\n  x")]),
        (QUOTED, [("text", QUOTED)]),
        (FENCED, [("text", FENCED)]),
    ],
)
def test_thoughts_are_thoughts_where_it_is_certain(text: str, runs: list[tuple[str, str]]) -> None:
    assert through([text]) == runs
    assert through(list(text)) == runs


@given(
    st.lists(
        st.sampled_from(
            [
                "<think>",
                "</think>",
                "<THINK>",
                "</THINK>",
                "<thinking>",
                "</thinking>",
                "a",
                " ",
                "\n",
                "`",
                "```\n",
                "<",
            ]
        ),
        max_size=14,
    ).map("".join),
    st.lists(st.integers(0, 120), max_size=8),
)
def test_no_cutting_of_a_text_gives_other_thoughts_and_no_word_is_lost(
    text: str, cuts: list[int]
) -> None:
    at = [0, *sorted(min(c, len(text)) for c in cuts), len(text)]
    whole = through([text])

    assert through([text[a:b] for a, b in pairwise(at)]) == whole
    assert "".join(t for _, t in whole).count("a") == text.count("a")
