"""Estimates, measurements and limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from msgspec.structs import replace

from agentsh.context.projection import Context, SummaryMessage, project
from agentsh.context.system import SystemState
from agentsh.context.tokens import (
    IMAGE_TOKENS,
    context_tokens,
    estimate_context,
    estimate_message,
    estimate_system,
    estimate_text,
    keep_tokens,
    needs_compaction,
    reserve_tokens,
    usage_is_plausible,
)
from agentsh.messages import BashExecutionMessage, Image, Thinking, ToolSchema, Usage
from agentsh.session.format.entries import Body, Branch, ContextEdit, EntryId
from tests.context.builders import PNG, bodies, call, context, kept, path, said, user


def test_text_is_a_quarter_of_its_bytes_rounded_up() -> None:
    assert [estimate_text(t) for t in ("", "a", "abcd", "abcde", "漢字", "\ud800")] == [
        0,
        1,
        1,
        2,
        2,
        1,
    ]


def test_every_block_of_every_message_counts() -> None:
    assert estimate_message(user("abcd", "abcd", Image(PNG, "image/png"))) == 2 + IMAGE_TOKENS
    # read{"path":"x"} has 16 characters
    assert estimate_message(said("abcd", Thinking("abcd"), call("i", path="x"))) == 2 + 4
    assert estimate_message(BashExecutionMessage("ab", "cdef")) == 2
    assert estimate_message(SummaryMessage("compaction", "abcde")) == 2


def test_the_system_prompt_and_the_tools_count() -> None:
    state = SystemState((("a", "x" * 40),), (ToolSchema("read", "abcd", {}),))
    assert estimate_system(state) == 10 + 3
    assert estimate_context(Context(system=state)) == 13


def measured(total: int) -> Usage:
    return Usage(input=total - 10, output=10, total_tokens=total)


def test_the_last_good_measurement_counts_and_only_what_follows_is_estimated() -> None:
    talk = (user("x" * 400), said("first", usage=measured(150)), user("y" * 400))
    assert context_tokens(context(*talk)) == 150 + 100
    assert context_tokens(context(*talk, said("z" * 40, usage=measured(300)))) == 300


def test_zero_is_no_measurement() -> None:
    talk = (user("x" * 400), said("y" * 40, usage=Usage()))
    assert context_tokens(context(*talk)) == 100 + 10


def test_a_sum_stands_in_for_a_missing_total() -> None:
    usage = Usage(input=50, output=10, cache_read=40, cache_write=5)
    assert context_tokens(context(user("x" * 400), said("y", usage=usage))) == 105


def test_a_measurement_of_what_was_hidden_since_says_nothing() -> None:
    talk = (user("x" * 400), said("y" * 40, usage=measured(150)), user("z" * 4000))
    answer = said("w" * 40, usage=measured(1200))
    hidden = ContextEdit(EntryId("e2"), None)

    assert context_tokens(context(*talk, answer)) == 1200
    assert context_tokens(context(*talk, answer, hidden)) == 150 + 10
    assert context_tokens(context(*talk, answer, hidden, said("n", usage=measured(160)))) == 160


def test_a_measurement_from_before_the_compaction_says_nothing() -> None:
    old = (user("x" * 400), said("y" * 40, usage=measured(90_000)))
    found = context_tokens(context(*old, kept("e1", "s" * 40)))
    assert found == 10 + 10
    assert context_tokens(context(*old, kept("e1"), said("n", usage=measured(77)))) == 77


def test_figures_far_from_any_estimate_are_not_believed() -> None:
    assert usage_is_plausible(measured(1000), 900)
    assert usage_is_plausible(measured(1000), 200)
    assert not usage_is_plausible(measured(90_000), 3000)
    assert not usage_is_plausible(measured(4096), 17_000)
    assert not usage_is_plausible(Usage(), 0)
    assert context_tokens(context(user("x" * 400), said("y", usage=measured(90_000)))) == 101


@pytest.mark.parametrize(
    ("reported", "estimate", "cut"),
    [
        (4086, 16_500, True),
        (4086, 6000, True),  # the total is exactly 4096
        (4080, 6000, False),
        (5000, 16_500, True),
        (9000, 16_500, False),
        (10, 1500, False),  # too small to tell
        (0, 50_000, False),  # no measurement
    ],
)
def test_a_server_that_reads_a_part_of_the_prompt_is_noticed(
    reported: int, estimate: int, cut: bool
) -> None:
    usage = Usage(input=reported, output=10, total_tokens=reported + 10)
    assert usage_is_plausible(usage, estimate) is (reported > 0 and not cut)


def test_cached_tokens_are_a_part_of_the_prompt() -> None:
    assert usage_is_plausible(Usage(input=10, cache_read=15_000, total_tokens=15_020), 16_500)


def test_the_reserve_is_bounded_for_small_windows_and_holds_the_output_budget() -> None:
    assert reserve_tokens(200_000) == 16_384
    assert reserve_tokens(30_000) == 6000
    assert reserve_tokens(32_000, 14_000) == 14_000
    assert reserve_tokens(200_000, 1000) == 16_384
    assert reserve_tokens(8000, 64_000) == 6000


def test_input_plus_output_decide_about_compaction() -> None:
    assert not needs_compaction(150_000, 200_000)
    assert needs_compaction(150_000, 200_000, 64_000)
    assert needs_compaction(21_000, 32_000, 14_000)
    assert not needs_compaction(10**9, None)


def test_the_kept_part_leaves_room_in_small_windows() -> None:
    assert keep_tokens(None) == 20_000
    assert keep_tokens(200_000) == 20_000
    assert keep_tokens(32_000, 14_000) == 6000


@given(bodies())
def test_without_measurements_the_estimate_of_the_whole_counts(made: list[Body]) -> None:
    found = project(Branch(path(*made)))
    blind = replace(found, tail=len(found.items))
    assert context_tokens(blind) == estimate_context(blind)
    assert context_tokens(found) >= 0
