"""Calls of one answer: each has one result, in order, whatever happens; reads run at once."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from agentsh.agent.events import (
    AgentEvent,
    ApprovalNeeded,
    ToolEnd,
    ToolProgress,
    ToolStart,
    TurnEnd,
)
from agentsh.errors import ToolAbortedError, ToolFailedError
from agentsh.jsontext import JsonObject
from agentsh.messages import Text
from agentsh.session.format.facts import ToolProcess, ToolStarted
from agentsh.tools.base import Effect, StartedProcess, ToolContext, ToolOutcome
from agentsh.tools.files.write import WriteTool
from agentsh.tools.shell.bash import BashTool
from tests.agent.builders import (
    during,
    ending,
    facts,
    make_agent,
    path_of,
    results,
    run,
    start_session,
    unpaired,
)
from tests.agent.order import faults
from tests.support.scripted import Call, ScriptedProvider
from tests.support.toys import Meeting, Toy, crashing, echo, outcome


def test_reads_that_stand_together_run_at_once(tmp_path: Path) -> None:
    meeting = Meeting(3)
    asked = tuple(Call(f"c{i}", "meet", {}) for i in range(3))
    agent = make_agent(
        start_session(tmp_path),
        ScriptedProvider(asked, "end"),
        tmp_path,
        tools=[Toy("meet", meeting)],
    )
    run(agent)
    assert [text for _, text, _ in results(agent.session)] == ["met"] * 3


@pytest.mark.parametrize("effect", [Effect.WRITE, Effect.EXEC, Effect.UNKNOWN])
def test_what_may_touch_anything_runs_alone(effect: Effect, tmp_path: Path) -> None:
    meeting = Meeting(2)
    asked = (Call("a", "look", {}), Call("b", "touch", {}), Call("c", "look", {}))
    tools = [Toy("look", meeting), Toy("touch", meeting, effect)]
    agent = make_agent(
        start_session(tmp_path), ScriptedProvider(asked, "end"), tmp_path, tools=tools
    )
    run(agent)
    assert meeting.most == 1


def test_no_more_than_a_few_run_at_once(tmp_path: Path) -> None:
    meeting = Meeting(17)
    asked = tuple(Call(f"c{i}", "meet", {}) for i in range(20))
    agent = make_agent(
        start_session(tmp_path),
        ScriptedProvider(asked, "end"),
        tmp_path,
        tools=[Toy("meet", meeting)],
    )
    run(agent)
    assert meeting.most == 16
    assert unpaired(path_of(agent.session)) == []


def test_results_come_in_the_order_of_the_calls_not_of_their_ends(tmp_path: Path) -> None:
    last_done = threading.Event()

    def slow(arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        assert last_done.wait(5)
        return outcome("slow")

    def quick(arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        last_done.set()
        return outcome("quick")

    asked = (Call("a", "slow", {}), Call("b", "quick", {}))
    agent = make_agent(
        start_session(tmp_path),
        ScriptedProvider(asked, "end"),
        tmp_path,
        tools=[Toy("slow", slow), Toy("quick", quick)],
    )
    events = run(agent)
    assert [e.call.id for e in events if isinstance(e, ToolEnd)] == ["a", "b"]
    assert [i for i, _, _ in results(agent.session)] == ["a", "b"]
    assert faults(events) == []


def test_a_result_is_in_the_file_before_those_after_it_are_there(tmp_path: Path) -> None:
    first_stored = threading.Event()

    def second(arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        return outcome("in time" if first_stored.wait(5) else "too late")

    asked = (Call("a", "echo", {"say": "the first result"}), Call("b", "second", {}))
    session = start_session(tmp_path)
    agent = make_agent(
        session, ScriptedProvider(asked, "end"), tmp_path, tools=[echo(), Toy("second", second)]
    )

    def look() -> None:
        assert session.path is not None
        assert b"the first result" in session.path.read_bytes().split(b'"role":"toolResult"')[1]
        first_stored.set()

    during(agent, "go", ToolEnd, look)
    assert results(session)[1][1] == "in time"


# ---- what may go wrong ---------------------------------------------------------------------------


def one_call(tmp_path: Path, call: Call, tool: Toy | WriteTool | BashTool) -> list[AgentEvent]:
    provider = ScriptedProvider((call,), "end")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[tool])
    events = run(agent)
    assert faults(events) == []
    assert unpaired(path_of(agent.session)) == []
    assert ending(events).reason == "completed"
    return events


def the_result(events: list[AgentEvent]) -> tuple[str, bool]:
    end = next(e for e in events if isinstance(e, ToolEnd))
    text = "".join(b.text for b in end.result.content if isinstance(b, Text))
    return text, end.result.is_error


def test_t21_the_model_hears_of_a_name_that_was_ignored(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    asked = Call("a", "bash", {"command": "echo $PWD", "workdir": "sub"})
    agent = make_agent(
        start_session(tmp_path), ScriptedProvider((asked,), "end"), tmp_path, tools=[BashTool()]
    )
    run(agent)
    [(_, text, is_error)] = results(agent.session)
    assert "bash has no argument workdir: ignored. It takes command" in text
    assert f"{tmp_path}\n" in text + "\n"
    assert not is_error


def test_a_crash_of_a_tool_is_its_result(tmp_path: Path) -> None:
    text, is_error = the_result(one_call(tmp_path, Call("c", "crash", {}), crashing()))
    assert is_error
    assert "crash crashed: KeyError" in text


def test_a_tool_that_wants_to_end_the_program_does_not(tmp_path: Path) -> None:
    def body(arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        raise SystemExit(3)

    text, is_error = the_result(one_call(tmp_path, Call("c", "leave", {}), Toy("leave", body)))
    assert is_error
    assert "SystemExit" in text


@pytest.mark.parametrize("details", [{"x": float("nan")}, {"x": object()}, {1: "one"}])
def test_details_that_are_no_json_cost_the_result_not_the_turn(
    details: object, tmp_path: Path
) -> None:
    def body(arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        return ToolOutcome((Text("fine"),), details=details)  # type: ignore[arg-type]

    text, is_error = the_result(one_call(tmp_path, Call("c", "odd", {}), Toy("odd", body)))
    assert is_error
    assert "cannot be kept" in text


def test_an_unknown_tool_and_wrong_arguments_are_results_without_a_start(tmp_path: Path) -> None:
    for call in (Call("c", "nowhere", {}), Call("c", "echo", {"say": 3})):
        folder = tmp_path / call.name
        folder.mkdir()
        events = one_call(folder, call, echo())
        assert the_result(events)[1]
        assert not any(isinstance(e, ToolStart) for e in events)


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "\ud800"])
def test_a_path_that_no_system_takes_is_a_result(path: str, tmp_path: Path) -> None:
    call = Call("c", "write", {"path": path, "content": "x"})
    _, is_error = the_result(one_call(tmp_path, call, WriteTool()))
    assert is_error


@pytest.mark.parametrize("error", [ToolFailedError, KeyError])
def test_l29_an_error_has_no_more_words_than_other_results(
    tmp_path: Path, error: type[Exception]
) -> None:
    """A server chooses them, or a file does."""

    def body(arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        raise error("much " * 1_000_000)

    text, is_error = the_result(one_call(tmp_path, Call("c", "fail", {}), Toy("fail", body)))

    assert is_error
    assert len(text) < 17_000
    assert text.endswith("characters the first 16384 are shown]")


def test_a_judgement_that_crashes_is_a_result(tmp_path: Path) -> None:
    class Odd(Toy, frozen=True):
        def touches(self, arguments: JsonObject, cwd: Path, home: Path) -> tuple[Path, ...]:
            raise ValueError("embedded null byte")

    tool = Odd("odd", echo().body, Effect.WRITE)
    text, is_error = the_result(one_call(tmp_path, Call("c", "odd", {}), tool))
    assert is_error
    assert "embedded null byte" in text


def test_a_look_ahead_that_crashes_is_a_result(tmp_path: Path) -> None:
    class Odd(Toy, frozen=True):
        def expect(self, arguments: JsonObject, context: ToolContext) -> Mapping[str, str] | None:
            raise ToolFailedError("no such file")

    tool = Odd("odd", echo().body, Effect.WRITE)
    events = one_call(tmp_path, Call("c", "odd", {}), tool)
    assert the_result(events) == ("no such file", True)
    assert not any(isinstance(e, ToolStart) for e in events)


# ---- abort ---------------------------------------------------------------------------------------


def waiting(name: str = "wait", effect: Effect = Effect.EXEC) -> Toy:
    def body(arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        context.progress("waiting")
        assert context.abort.wait(5)
        raise ToolAbortedError("stopped by the user")

    return Toy(name, body, effect)


def test_an_abort_in_mid_tool_answers_it_and_all_after_it(tmp_path: Path) -> None:
    asked = (Call("a", "echo", {}), Call("b", "wait", {}), Call("c", "echo", {}))
    agent = make_agent(
        start_session(tmp_path), ScriptedProvider(asked), tmp_path, tools=[echo(), waiting()]
    )
    events = during(agent, "go", ToolProgress, agent.abort)
    assert ending(events).reason == "aborted"
    found = results(agent.session)
    assert [(i, error) for i, _, error in found] == [("a", False), ("b", True), ("c", True)]
    assert "not started" in found[2][1]
    assert faults(events) == []
    codes = [e.stamp.code for e in path_of(agent.session) if e.stamp and e.stamp.code]
    assert codes == ["aborted", "aborted"]


def test_a_listener_that_goes_away_in_mid_tool_stops_it_and_each_call_is_answered(
    tmp_path: Path,
) -> None:
    asked = (Call("a", "wait", {}), Call("b", "wait", {}), Call("c", "echo", {}))
    agent = make_agent(
        start_session(tmp_path),
        ScriptedProvider(asked),
        tmp_path,
        tools=[echo(), waiting(effect=Effect.READ)],
    )
    events = agent.prompt("go")
    while not isinstance(next(events), ToolProgress):
        pass
    events.close()
    assert unpaired(path_of(agent.session)) == []
    assert len(results(agent.session)) == 3
    assert threading.active_count() == 1 or not any(
        t.name.startswith("tool ") for t in threading.enumerate()
    )


def test_a_real_command_is_killed_and_its_output_kept(tmp_path: Path) -> None:
    asked = (Call("a", "bash", {"command": "echo before; sleep 30"}),)
    agent = make_agent(
        start_session(tmp_path), ScriptedProvider(asked), tmp_path, tools=[BashTool()]
    )
    events = during(agent, "go", ToolProgress, agent.abort)
    assert ending(events).reason == "aborted"
    ((_, text, is_error),) = results(agent.session)
    assert is_error
    assert "before" in text


# ---- what is on record ---------------------------------------------------------------------------


def test_a_start_says_what_will_be_touched_and_the_process_follows(tmp_path: Path) -> None:
    def body(arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        context.started(StartedProcess(123, 456, "boot"))
        return outcome("ran")

    asked = (Call("a", "ran", {}),)
    agent = make_agent(
        start_session(tmp_path),
        ScriptedProvider(asked, "end"),
        tmp_path,
        tools=[Toy("ran", body, Effect.EXEC)],
    )
    run(agent)
    stated = facts(path_of(agent.session))
    (start,) = [f for f in stated if isinstance(f, ToolStarted)]
    (process,) = [f for f in stated if isinstance(f, ToolProcess)]
    assert (start.call_id, start.effect) == ("a", "exec")
    assert (process.call_id, process.pgid, process.start) == ("a", 123, 456)


def test_a_write_states_its_files_before_and_after(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    asked = (
        Call("r", "read", {"path": "f"}),
        Call("w", "write", {"path": "f", "content": "new"}),
    )
    agent = make_agent(start_session(tmp_path), ScriptedProvider(asked, "end"), tmp_path)
    run(agent)
    (start,) = [
        f for f in facts(path_of(agent.session)) if isinstance(f, ToolStarted) and f.pre_images
    ]
    assert [image["size"] for image in start.pre_images] == [3]
    assert [image["path"] for image in start.expected] == [str((tmp_path / "f").resolve())]
    assert (tmp_path / "f").read_text() == "new"


def test_a_result_names_the_answer_and_the_start_as_its_sources(tmp_path: Path) -> None:
    asked = (Call("a", "echo", {}),)
    agent = make_agent(
        start_session(tmp_path), ScriptedProvider(asked, "end"), tmp_path, tools=[echo()]
    )
    events = run(agent)
    start = next(e for e in events if isinstance(e, ToolStart))
    end = next(e for e in events if isinstance(e, ToolEnd))
    stamp = agent.session.entry(end.entry).stamp
    assert stamp is not None
    assert stamp.sources[1:] == (start.entry,)
    assert len(stamp.sources) == 2


def test_blocked_means_nothing_later_of_that_message_is_done(tmp_path: Path) -> None:
    ran: list[str] = []

    def body(arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        ran.append(context.call_id)
        return outcome("")

    asked = (Call("a", "look", {}), Call("b", "act", {}), Call("c", "look", {}))
    tools = [Toy("look", body), Toy("act", body, Effect.EXEC)]
    agent = make_agent(
        start_session(tmp_path), ScriptedProvider(asked), tmp_path, tools=tools, policy="ask"
    )
    events = run(agent)
    assert ran == ["a"]
    assert isinstance(events[-1], TurnEnd)
    assert events[-1].reason == "blocked"
    assert [e.call.id for e in events if isinstance(e, ApprovalNeeded)] == ["b"]
    found = results(agent.session)
    assert [(i, error) for i, _, error in found] == [("a", False), ("b", True), ("c", True)]
    assert all("not approved" in text for _, text, _ in found[1:])
    assert faults(events) == []
