"""A loop that makes no progress ends; work that repeats itself now and then does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.agent.turn.approvals import ApprovalAnswer, ApprovalRequest
from agentsh.agent.turn.execution import REPEATED, noted
from agentsh.agent.turn.repeated_calls import MAX_SAME, Repetition
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import Text, ToolCall, ToolCallId, ToolResultMessage
from agentsh.settings import Policy
from agentsh.tools.base import Effect, ToolOutcome
from tests.agent.builders import (
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
from tests.support.toys import Toy, echo


def call(call_id: str = "a", **arguments: str) -> ToolCall:
    given: JsonObject = dict(arguments)
    return ToolCall(ToolCallId(call_id), "echo", given)


def test_the_same_calls_again_and_again_are_stuck() -> None:
    repetition = Repetition()
    asked = [repetition.stuck((call(f"id {i}", say="x"),)) for i in range(2 * MAX_SAME)]
    words = "the model makes the same call of echo for the {}th time in a row".format
    not_yet = [None] * (MAX_SAME - 1)
    assert asked == [*not_yet, words(MAX_SAME), *not_yet, words(2 * MAX_SAME)]


def test_anything_else_between_begins_the_count_anew() -> None:
    repetition = Repetition()
    for _ in range(3):
        assert not any(repetition.stuck((call(say="x"),)) for _ in range(MAX_SAME - 1))
        assert not repetition.stuck((call(say="y"),))


def test_q10_what_one_answer_calls_for_twice_counts_once() -> None:
    repetition = Repetition()
    x, y = call(say="x"), call(say="y")
    assert not repetition.stuck((x,) * 20)
    assert not any(repetition.stuck((x,)) for _ in range(MAX_SAME - 2))
    assert repetition.stuck((x, x))
    steps = [repetition.stuck((x, y)) is not None for _ in range(MAX_SAME)]
    assert steps == [False] * (MAX_SAME - 1) + [True]


def test_q10_without_a_person_the_fifth_same_call_ends_the_turn_with_all_results(
    tmp_path: Path,
) -> None:
    provider = ScriptedProvider((Call("a", "echo", {"say": "x"}),))
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[echo()])
    end = ending(run(agent))
    assert end.reason == "error"
    assert "the same call of echo for the 5th time in a row" in (end.error or "")
    assert len(provider.requests) == MAX_SAME
    kept = [text.endswith(REPEATED) for _, text, _ in results(agent.session)]
    assert kept == [False] * 4 + [True]
    assert unpaired(path_of(agent.session)) == []


@pytest.mark.parametrize("policy", ["all", "ask"])
@pytest.mark.parametrize(
    ("answers", "reason", "requests"),
    [
        ([ApprovalAnswer("once"), ApprovalAnswer("no")], "aborted", 2 * MAX_SAME),
        ([ApprovalAnswer("no")], "aborted", MAX_SAME),
        ([ApprovalAnswer("no", reason="look at y")], "completed", MAX_SAME + 1),
    ],
)
def test_q10_the_person_is_asked_once_and_says_whether_it_goes_on(
    policy: Policy,
    answers: list[ApprovalAnswer],
    reason: str,
    requests: int,
    tmp_path: Path,
) -> None:
    step = (Call("a", "act", {"say": "x"}),)
    provider = ScriptedProvider(*[step] * (requests - (reason == "completed")), "done")
    left = list(answers)
    asked: list[ApprovalRequest] = []

    def answer(request: ApprovalRequest) -> ApprovalAnswer:
        is_repeat = "time in a row" in (request.why or "")
        if is_repeat:
            asked.append(request)
        return left.pop(0) if is_repeat else ApprovalAnswer("once")

    tool = Toy("act", echo().body, Effect.EXEC)
    agent = make_agent(
        start_session(tmp_path), provider, tmp_path, tools=[tool], policy=policy, approver=answer
    )

    assert ending(run(agent)).reason == reason
    assert len(provider.requests) == requests
    assert (len(asked), left) == (len(answers), [])
    assert unpaired(path_of(agent.session)) == []
    if reason == "completed":
        assert any("look at y" in text for _, text, _ in results(agent.session))


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
