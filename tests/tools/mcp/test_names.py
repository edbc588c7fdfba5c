"""Names of servers' tools: what endpoints take, none twice, in any order."""

from __future__ import annotations

import random
import re

from hypothesis import given
from hypothesis import strategies as st

from agentsh.tools.mcp.names import ServerTool, is_server_tool, offered_names

WORDS = st.text("ab._/ ü-" + "x" * 3, min_size=1, max_size=70)
TOOLS = st.sets(st.tuples(WORDS, WORDS), max_size=12)


def test_a_plain_name_is_server_and_tool() -> None:
    names = offered_names([("birds", "count"), ("o.ther", "a.b/c d")])

    assert names == {
        ("birds", "count"): "mcp__birds__count",
        ("o.ther", "a.b/c d"): "mcp__o_ther__a_b_c_d",
    }


def test_names_that_would_be_the_same_all_end_in_a_digest() -> None:
    names = offered_names([("s", "dup.name"), ("s", "dup_name"), ("s", "plain")])

    assert names[("s", "plain")] == "mcp__s__plain"
    assert [re.sub("[0-9a-f]{8}$", "#", name) for name in names.values()] == [
        "mcp__s__dup_name_#",
        "mcp__s__dup_name_#",
        "mcp__s__plain",
    ]


def test_a_tool_that_is_called_as_the_digest_of_another_makes_way() -> None:
    first = offered_names([("s", "a.b"), ("s", "a_b")])[("s", "a.b")]
    names = offered_names([("s", "a.b"), ("s", "a_b"), ("s", first.removeprefix("mcp__s__"))])

    assert len(set(names.values())) == 3


@given(TOOLS, st.integers())
def test_every_name_is_taken_by_endpoints_and_none_depends_on_the_order(
    tools: set[ServerTool], seed: int
) -> None:
    names = offered_names(tools)
    shuffled = sorted(tools)
    random.Random(seed).shuffle(shuffled)

    assert names == offered_names(shuffled)
    assert len(set(names.values())) == len(tools)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names.values())
    assert all(map(is_server_tool, names.values()))
