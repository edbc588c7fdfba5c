"""A loop that makes no progress ends; work that repeats itself now and then does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.agent.execution import noted
from agentsh.agent.repetition import MAX_SAME, Repetition
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import Text, ToolCall, ToolCallId, ToolResultMessage
from agentsh.tools.base import ToolOutcome
from tests.agent.made import (
    ending,
    make_agent,
    messages,
    path_of,
    results,
    run,
    start_session,
    unpaired,
)
from tests.support.scripted import Call, ScriptedProvider
from tests.support.toys import echo


def call(call_id: str = "a", **arguments: str) -> ToolCall:
    given: JsonObject = dict(arguments)
    return ToolCall(ToolCallId(call_id), "echo", given)


def test_the_same_calls_again_and_again_are_stuck() -> None:
    repetition = Repetition()
    asked = [repetition.stuck((call(f"id {i}", say="x"),)) for i in range(MAX_SAME)]
    assert asked == [False] * (MAX_SAME - 1) + [True]
    assert str(MAX_SAME) in repetition.words()


def test_anything_else_between_begins_the_count_anew() -> None:
    repetition = Repetition()
    for _ in range(3):
        assert not any(repetition.stuck((call(say="x"),)) for _ in range(MAX_SAME - 1))
        assert not repetition.stuck((call(say="y"),))


def test_a_turn_that_is_stuck_ends_with_all_results(tmp_path: Path) -> None:
    provider = ScriptedProvider((Call("a", "echo", {"say": "x"}),))
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[echo()])
    end = ending(run(agent))
    assert end.reason == "error"
    assert "same tool call" in (end.error or "")
    assert len(provider.requests) == MAX_SAME
    assert unpaired(path_of(agent.session)) == []


def test_the_third_time_in_a_row_the_model_is_told_so(tmp_path: Path) -> None:
    """A small model goes in circles where nobody says that it does."""
    step = (Call("a", "echo", {"say": "x"}),)
    provider = ScriptedProvider(step, step, step, "done")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[echo()])

    run(agent)

    told = ["3 times in a row" in text for _, text, _ in results(agent.session)]
    assert told == [False, False, True]


def test_the_note_is_marked_as_ours_and_the_model_reads_what_it_read_before(tmp_path: Path) -> None:
    step = (Call("a", "echo", {"say": "x"}),)
    provider = ScriptedProvider(step, step, step, "done")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[echo()])

    run(agent)

    found = [m for m in messages(agent.session) if isinstance(m, ToolResultMessage)]
    assert [m.details for m in found] == [None, None, {"ash": {"note": True}}]
    assert b"3 times in a row" in provider.bodies[-1]
    assert b"note" not in provider.bodies[-1]


@pytest.mark.parametrize(
    ("details", "kept"),
    [
        ({"diff": "d", "ash": {"x": 1}}, {"diff": "d", "ash": {"x": 1, "note": True}}),
        ({"ash": "odd"}, {"ash": "odd"}),
        (["odd"], ["odd"]),
    ],
)
def test_a_note_leaves_what_the_details_hold(details: JsonValue, kept: JsonValue) -> None:
    told = noted(ToolOutcome((Text("x"),), details=details), "[n]")

    assert (told.content, told.details) == ((Text("[n]"), Text("x")), kept)
