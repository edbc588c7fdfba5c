"""What closes an interrupted turn: each row of the table, and that it is planned once."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given
from msgspec.structs import replace

from agentsh.messages import AssistantMessage, Text, ToolResultMessage
from agentsh.session.format.entries import Compaction, Custom, Label, MessageBody
from agentsh.session.format.facts import (
    ApprovalAsked,
    AttemptEnded,
    Navigated,
    Repaired,
    TurnEnded,
)
from agentsh.session.health.repair import (
    TOOL_NOT_STARTED,
    TOOL_OUTCOME_UNKNOWN,
    Closing,
    Evidence,
    plan,
)
from agentsh.session.health.unfinished import plan_open_calls, plan_sound_end
from tests.session.builders import Path, requested, result, said, started, user


def results(closings: tuple[Closing, ...]) -> list[tuple[str, str, str | None]]:
    """(call, text, code) of each planned tool result."""
    found: list[tuple[str, str, str | None]] = []
    for closing in closings:
        match closing.body:
            case MessageBody(ToolResultMessage() as message):
                assert message.is_error
                text = "".join(b.text for b in message.content if isinstance(b, Text))
                found.append((message.tool_call_id, text, closing.code))
            case _:
                pass
    return found


def kinds(closings: tuple[Closing, ...]) -> list[str]:
    return [
        type(c.body.message if isinstance(c.body, MessageBody) else c.body).__name__
        for c in closings
    ]


def apply(path: Path, closings: tuple[Closing, ...]) -> None:
    for closing in closings:
        path.add(closing.body)


def test_a_balanced_path_and_an_empty_one_need_nothing() -> None:
    path = Path()

    assert plan(path.branch) == ()

    start = path.start()
    path.add(user("hello"))
    path.add(said("hi"))
    path.end(start)

    assert plan(path.branch) == ()


def test_a_turn_without_an_answer_is_only_closed() -> None:
    path = Path()
    start = path.start()
    path.add(user("hello"))
    path.add(requested())

    closings = plan(path.branch)

    assert kinds(closings) == ["TurnEnded", "Repaired"]
    assert closings[0].body == TurnEnded(start, "interrupted")
    assert closings[0].time == path.entries[-1].time


def test_a_call_without_a_start_was_not_started_and_one_with_a_start_may_have_run() -> None:
    path = Path()
    path.start()
    path.add(user("go"))
    asked = path.add(said("", ("c1", "bash"), ("c2", "bash")))
    begun = path.add(started("c2"))

    closings = plan(path.branch)
    (one, text_one, code_one), (two, text_two, code_two) = results(closings)

    assert (one, code_one) == ("c1", TOOL_NOT_STARTED)
    assert (two, code_two) == ("c2", TOOL_OUTCOME_UNKNOWN)
    assert "not started" in text_one
    assert "unknown" in text_two
    assert "not started" not in text_two
    assert closings[0].sources == (asked,)
    assert closings[1].sources == (asked, begun)


def test_results_come_in_the_order_of_the_transcript_and_finished_ones_stay() -> None:
    path = Path()
    path.start()
    path.add(user("go"))
    path.add(said("", ("c1", "bash"), ("c2", "bash"), ("c3", "bash")))
    for call in ("c3", "c2", "c1"):
        path.add(started(call))
    path.add(result("c2"))

    assert [call for call, _, _ in results(plan(path.branch))] == ["c1", "c3"]


def test_a_call_that_waited_for_an_approval_was_not_started() -> None:
    path = Path()
    path.start()
    path.add(user("go"))
    path.add(said("", ("c1", "bash")))
    path.add(ApprovalAsked("c1", "bash", "rm -rf ."))

    ((_, text, code),) = results(plan(path.branch))

    assert code == TOOL_NOT_STARTED
    assert "approval" in text


def test_a_file_of_another_program_without_turns_is_answered_too() -> None:
    path = Path()
    path.add(user("go"))
    path.add(said("", ("c1", "bash")))
    path.add(Label(path.entries[0].id, "here"))

    closings = plan(path.branch)

    assert kinds(closings) == ["ToolResultMessage", "Repaired"]


def test_of_a_program_that_keeps_no_record_nothing_is_said_to_be_not_started() -> None:
    path = Path()
    path.add(user("go"))
    path.add(said("", ("c1", "bash")))
    path.entries[-1] = replace(path.entries[-1], stamp=None)

    answer = plan(path.branch)[0]

    assert answer.code == TOOL_OUTCOME_UNKNOWN
    assert isinstance(answer.body, MessageBody)
    assert "The outcome is unknown" in str(answer.body)
    assert "not started" not in str(answer.body)


def test_calls_further_up_are_left_to_the_outbound_pass() -> None:
    path = Path()
    path.add(said("", ("c1", "bash")))
    path.add(user("never mind"))

    assert plan(path.branch) == ()

    path = Path()
    start = path.start()
    path.add(said("", ("c1", "bash")))
    path.end(start)

    assert plan(path.branch) == ()

    path = Path()
    path.add(said("", ("c1", "bash")))
    path.add(Compaction("all of it", None, 10))

    assert plan(path.branch) == ()


def test_calls_of_an_aborted_message_have_no_results() -> None:
    path = Path()
    path.add(user("go"))
    path.add(said("half", ("c1", "bash"), stop="aborted"))

    assert plan(path.branch) == ()


def test_a_place_that_somebody_went_to_is_not_interrupted() -> None:
    path = Path()
    path.start()
    path.add(user("go"))
    path.add(said("", ("c1", "bash")))
    path.add(Navigated(None, "tree"))

    assert plan(path.branch) == ()


def test_a_half_answer_is_kept_as_aborted_with_its_request() -> None:
    path = Path()
    path.start()
    path.add(user("go"))
    request = path.add(requested())
    assert plan_open_calls(path.branch).request == request

    closings = plan(path.branch, Evidence(text="The heron is", thinking="birds"))

    assert kinds(closings) == ["AssistantMessage", "TurnEnded", "Repaired"]
    body = closings[0].body
    assert isinstance(body, MessageBody)
    assert isinstance(body.message, AssistantMessage)
    assert body.message.stop_reason == "aborted"
    assert body.message.text == "The heron is"
    assert closings[0].request == request


def test_a_failed_attempt_has_no_half_answer() -> None:
    path = Path()
    path.start()
    path.add(user("go"))
    path.add(AttemptEnded(path.add(requested()), "503"))

    assert kinds(plan(path.branch, Evidence(text="old"))) == ["TurnEnded", "Repaired"]


def wrote(now: str | None, *, before: str | None = "b" * 64) -> str:
    path = Path()
    path.start()
    path.add(said("", ("c1", "write")))
    path.add(
        started(
            "c1",
            "write",
            pre_images=({"path": "/p/f", "sha256": before, "size": 1},),
            expected=({"path": "/p/f", "sha256": "a" * 64},),
        )
    )
    ((_, text, _),) = results(plan(path.branch, Evidence(files={"/p/f": now})))
    return text


def test_the_evidence_of_a_written_file_is_told_in_words() -> None:
    assert "has the content that the call wanted" in wrote("a" * 64)
    assert "is as it was before the call" in wrote("b" * 64)
    assert "is missing" in wrote(None)
    assert "no such file before the call and there is none now" in wrote(None, before=None)
    assert "something else" in wrote("c" * 64)


def test_output_and_a_living_process_are_told() -> None:
    path = Path()
    path.start()
    path.add(said("", ("c1", "bash")))
    path.add(started("c1"))

    ((_, text, _),) = results(
        plan(path.branch, Evidence(outputs={"c1": "line 1\nline 2"}, running={"c1": 4711}))
    )

    assert "line 1\nline 2" in text
    assert "4711 is still running" in text


def test_a_torn_line_alone_is_recorded_once() -> None:
    path = Path()
    path.add(user("go"))

    (closing,) = plan(path.branch, Evidence(torn_line=3, torn_bytes=20))

    assert closing.body == Repaired((), 3, 20, {})
    apply(path, (closing,))
    assert plan(path.branch) == ()


def test_going_inside_a_step_goes_back_to_before_its_message() -> None:
    path = Path()
    path.add(user("go"))
    path.add(said("", ("c1", "bash"), ("c2", "bash")))
    path.add(result("c1"))

    assert plan_sound_end(path.entries) == 1

    path.add(result("c2"))

    assert plan_sound_end(path.entries) == 4


STEPS = st.sampled_from(
    ["start", "end", "user", "text", "calls", "begin", "result", "request", "fail", "label"]
)


@given(st.lists(STEPS, max_size=30))
def test_whatever_the_end_one_repair_settles_it_and_a_second_finds_nothing(
    steps: list[str],
) -> None:
    path = Path()
    turns = []
    calls: list[str] = []
    for i, step in enumerate(steps):
        match step:
            case "start":
                turns.append(path.start())
            case "end" if turns:
                path.end(turns.pop())
            case "user":
                path.add(user("go"))
            case "text":
                path.add(said("well"))
            case "calls":
                calls = [f"c{i}a", f"c{i}b"]
                path.add(said("", (calls[0], "bash"), (calls[1], "write")))
            case "begin" if calls:
                path.add(started(calls[0]))
            case "result" if calls:
                path.add(result(calls.pop()))
            case "request":
                path.add(requested())
            case "fail":
                path.add(said("oops", stop="error"))
            case _:
                path.add(Custom("someone.else"))
    before = list(path.entries)
    evidence = Evidence(text="half", outputs={"x": "y"})

    closings = plan(path.branch, evidence)

    assert closings == plan(path.branch, evidence)
    assert path.entries == before
    apply(path, closings)
    assert plan(path.branch, evidence) == ()
