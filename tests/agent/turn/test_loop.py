"""A turn: steps until no call is left, events in the promised order, an end that always comes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.events import (
    AgentEvent,
    MessageDone,
    Notice,
    StepEnd,
    StepStart,
    TextPart,
    ToolEnd,
    ToolProgress,
    ToolStart,
    TurnEnd,
    TurnStart,
)
from agentsh.context.projection import project
from agentsh.context.summaries.compaction import Cut, SummaryOrigin, finish
from agentsh.errors import ConnectionFailedError, ProviderError, RequestRejectedError
from agentsh.jsontext import JsonObject
from agentsh.messages import AssistantMessage, Text, ToolCall, ToolCallId
from agentsh.providers.base import Finished, Request, StreamEvent, TextDelta, ThinkingDelta
from agentsh.session.format.entries import MessageBody
from agentsh.session.format.facts import RequestSent, TurnEnded, TurnStarted
from agentsh.tools.base import Effect, ToolContext, ToolOutcome
from tests.agent.builders import (
    ending,
    facts,
    make_agent,
    messages,
    path_of,
    reopen,
    results,
    run,
    start_session,
    unpaired,
)
from tests.agent.order import faults
from tests.session.disks import CountingDisk, around
from tests.support.scripted import Call, Doing, ScriptedProvider, Step
from tests.support.toys import Toy, crashing, echo, outcome


def kinds(events: list[AgentEvent]) -> list[str]:
    return [type(event).__name__ for event in events]


def test_an_answer_without_calls_is_one_step(tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello"), tmp_path)
    events = run(agent)
    assert kinds(events) == [
        "TurnStart",
        "StepStart",
        "TextPart",
        "MessageDone",
        "StepEnd",
        "TurnEnd",
    ]
    assert ending(events).reason == "completed"


def test_steps_follow_until_no_call_is_left(tmp_path: Path) -> None:
    script = ((Call("a", "echo", {"say": "1"}),), (Call("b", "echo", {"say": "2"}),), "done")
    provider = ScriptedProvider(*script)
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[echo()])
    events = run(agent)
    assert [e.number for e in events if isinstance(e, StepStart)] == [1, 2, 3]
    assert [e.number for e in events if isinstance(e, StepEnd)] == [1, 2, 3]
    assert results(agent.session) == [("a", "1", False), ("b", "2", False)]
    assert len(provider.requests) == 3
    assert faults(events) == []


def test_events_name_entries_that_hold_what_they_say(tmp_path: Path) -> None:
    provider = ScriptedProvider((Call("a", "echo", {}),), "end")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[echo()])
    for event in agent.prompt("go"):
        match event:
            case TurnStart(message=said, entry=entry) | MessageDone(message=said, entry=entry):
                assert agent.session.entry(entry).body == MessageBody(said)
            case ToolEnd(result=result, entry=entry):
                assert agent.session.entry(entry).body == MessageBody(result)
            case StepStart(entry=entry) | ToolStart(entry=entry) | TurnEnd(entry=entry):
                assert entry is not None
                assert agent.session.entry(entry).id == entry
            case _:
                pass


def test_the_end_of_a_turn_is_durable_and_names_its_start(tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello"), tmp_path)
    end = ending(run(agent))
    assert agent.session.saved
    assert end.leaf == agent.session.leaf == end.entry
    stated = facts(path_of(agent.session))
    started = [f for f in stated if isinstance(f, TurnStarted)]
    ended = [f for f in stated if isinstance(f, TurnEnded)]
    assert [f.number for f in started] == [1]
    assert [f.reason for f in ended] == ["completed"]


def test_turns_are_counted_on_the_path(tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello"), tmp_path)
    for _ in range(3):
        run(agent)
    numbers = [f.number for f in facts(path_of(agent.session)) if isinstance(f, TurnStarted)]
    assert numbers == [1, 2, 3]


@pytest.mark.parametrize("said", [2, None])
def test_numbers_of_turns_only_grow_behind_a_compaction_too(
    said: int | None, tmp_path: Path
) -> None:
    """Also where another process goes on, and where the compaction does not say the number."""
    agent = make_agent(start_session(tmp_path), ScriptedProvider("x" * 400, "x" * 400), tmp_path)
    run(agent, "y" * 400)
    run(agent, "y" * 400)
    context = project(agent.session.branch())
    cut = Cut(None, 0, len(context.items), is_split=False)
    agent.session.append(finish(context, cut, "SUMMARY", SummaryOrigin(turn=said)))
    agent.close()
    for number in (3, 4):
        again = make_agent(reopen(tmp_path), ScriptedProvider("on"), tmp_path)
        run(again)
        again.close()
        with reopen(tmp_path) as session:
            found = [f.number for f in facts(path_of(session)) if isinstance(f, TurnStarted)]
        assert found == list(range(1, number + 1))


def test_the_first_request_of_a_turn_says_how_it_came_to_be_and_each_later_one_goes_on(
    tmp_path: Path,
) -> None:
    script = ((Call("a", "echo", {}),), (Call("b", "echo", {}),), "done", "again")
    agent = make_agent(start_session(tmp_path), ScriptedProvider(*script), tmp_path, tools=[echo()])
    run(agent)
    run(agent)
    sent = [f for f in facts(path_of(agent.session)) if isinstance(f, RequestSent)]
    assert [f.reason for f in sent] == ["initial", "continue", "continue", "resume"]


def test_usage_of_a_turn_is_the_sum_of_its_steps(tmp_path: Path) -> None:
    provider = ScriptedProvider((Call("a", "echo", {}),), "end")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[echo()])
    assert ending(run(agent)).usage.total_tokens == 220


def test_max_steps_ends_the_turn_after_the_results(tmp_path: Path) -> None:
    provider = ScriptedProvider((Call("a", "echo", {}),))
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[echo()], max_steps=2)
    events = run(agent)
    assert ending(events).reason == "max_steps"
    assert len(provider.requests) == 2
    assert unpaired(path_of(agent.session)) == []


# ---- answers that are cut, failed, stopped -------------------------------------------------------


def cut_call(provider: list[ScriptedProvider]) -> Doing:
    def doing(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        yield from provider[0].calling(Call("c", "echo", {"say": "x"}), stop_reason="length")

    return doing


def test_a_call_of_a_cut_answer_is_never_run_whole_as_it_may_look(tmp_path: Path) -> None:
    ran: list[str] = []

    def body(arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        ran.append("it ran")
        return outcome("")

    holder: list[ScriptedProvider] = []
    holder.append(ScriptedProvider(cut_call(holder), "then"))
    agent = make_agent(
        start_session(tmp_path), holder[0], tmp_path, tools=[Toy("echo", body, Effect.EXEC)]
    )
    events = run(agent)
    assert ran == []
    assert [error for _, _, error in results(agent.session)] == [True]
    assert ending(events).reason == "completed"
    assert faults(events) == []


def test_answers_cut_in_their_calls_again_and_again_end_the_turn(tmp_path: Path) -> None:
    holder: list[ScriptedProvider] = []
    holder.append(ScriptedProvider(cut_call(holder)))
    agent = make_agent(start_session(tmp_path), holder[0], tmp_path, tools=[echo()])
    end = ending(run(agent))
    assert end.reason == "error"
    assert end.hint is not None
    assert "--max-tokens" in end.hint
    assert len(holder[0].requests) == 3
    assert unpaired(path_of(agent.session)) == []


def test_an_answer_cut_in_its_text_is_told(tmp_path: Path) -> None:
    def doing(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        yield TextDelta("half")
        yield Finished(replace(provider.message(Text("half")), stop_reason="length"))

    provider = ScriptedProvider(doing)
    events = run(make_agent(start_session(tmp_path), provider, tmp_path))
    assert ending(events).reason == "max_tokens"
    assert any(isinstance(e, Notice) and e.level == "warning" for e in events)


def test_calls_of_an_answer_that_failed_are_not_run(tmp_path: Path) -> None:
    ran: list[str] = []

    def doing(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        call = ToolCall(ToolCallId("c"), "tell", {})
        message = provider.message(Text("so "), call)
        yield TextDelta("so ")
        yield Finished(replace(message, stop_reason="error", error_message="content filter"))

    def body(arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        ran.append("it ran")
        return outcome("")

    provider = ScriptedProvider(doing)
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[Toy("tell", body)])
    end = ending(run(agent))
    assert (end.reason, end.error, ran) == ("error", "content filter", [])


def test_an_abort_in_the_stream_keeps_what_came(tmp_path: Path) -> None:
    def doing(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        yield TextDelta("half an ")
        assert abort.wait(5)
        yield Finished(replace(provider.message(Text("half an ")), stop_reason="aborted"))

    provider = ScriptedProvider(doing)
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    events: list[AgentEvent] = []
    for event in agent.prompt("go"):
        events.append(event)
        if isinstance(event, TextPart):
            agent.abort()
    assert ending(events).reason == "aborted"
    said = [m for m in messages(agent.session) if isinstance(m, AssistantMessage)]
    assert [(m.text, m.stop_reason) for m in said] == [("half an ", "aborted")]
    assert faults(events) == []


def test_an_abort_between_steps_sends_nothing_more(tmp_path: Path) -> None:
    provider = ScriptedProvider((Call("a", "echo", {}),), "never asked for")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[echo()])
    events: list[AgentEvent] = []
    for event in agent.prompt("go"):
        events.append(event)
        if isinstance(event, StepEnd):
            agent.abort()
    assert ending(events).reason == "aborted"
    assert len(provider.requests) == 1


def test_an_abort_of_one_turn_does_not_reach_the_next(tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello"), tmp_path)
    for event in agent.prompt("go"):
        if isinstance(event, TurnStart):
            agent.abort()
    assert ending(run(agent)).reason == "completed"


def test_whoever_stops_listening_leaves_a_closed_turn(tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello"), tmp_path)
    events = agent.prompt("go")
    while not isinstance(next(events), TextPart):
        pass
    events.close()
    ended = [f for f in facts(path_of(agent.session)) if isinstance(f, TurnEnded)]
    assert [f.reason for f in ended] == ["aborted"]
    assert [m.text for m in messages(agent.session) if isinstance(m, AssistantMessage)] == ["hello"]
    assert agent.session.saved
    assert not agent.running


# ---- whatever happens: order of events, and one result for each call -----------------------------

NAMES = ("echo", "crash", "write", "nowhere", "asker", "ask")


@st.composite
def calls(draw: st.DrawFn) -> tuple[Call, ...]:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4))
    said: JsonObject = draw(st.sampled_from(({}, {"say": "x"}, {"say": 3})))
    # some models count their ids anew in each answer, some repeat one (E20)
    same = draw(st.booleans())
    return tuple(Call("c" if same else f"c{i}", name, said) for i, name in enumerate(names))


def failing(text: str, *, retryable: bool) -> Doing:
    def doing(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        if text:
            yield TextDelta(text)
        else:
            yield ThinkingDelta("hm")
        raise ConnectionFailedError("lost") if retryable else RequestRejectedError("no")

    return doing


STEPS: st.SearchStrategy[Step] = st.one_of(
    st.sampled_from(("fine", "well")),
    calls(),
    st.builds(failing, st.sampled_from(("", "some")), retryable=st.booleans()),
    st.builds(RequestRejectedError, st.just("refused")),
)


@given(
    st.lists(STEPS, min_size=1, max_size=6),
    st.integers(0, 40),
    st.sampled_from(("steer", "follow-up", "abort", "none")),
)
def test_any_turn_ends_in_order_with_one_result_for_each_call(
    script: list[Step], when: int, what: str
) -> None:
    cwd = Path("/nowhere")
    provider = ScriptedProvider(*script, "the end")
    tools = [echo(), crashing(), echo("write", Effect.EXEC), echo("asker", Effect.UNKNOWN)]
    agent = make_agent(
        start_session(None), provider, cwd, tools=tools, policy="all", max_retries=0, max_steps=8
    )
    events: list[AgentEvent] = []
    for i, event in enumerate(agent.prompt("go")):
        events.append(event)
        if i == when:
            match what:
                case "steer":
                    agent.steer("mind this")
                case "follow-up":
                    agent.follow_up("and then")
                case "abort":
                    agent.abort()
                case _:
                    pass
    assert faults(events) == []
    assert unpaired(path_of(agent.session)) == []
    assert isinstance(events[-1], TurnEnd)
    asked = [c for e in events if isinstance(e, MessageDone) for c in e.message.tool_calls]
    assert len([e for e in events if isinstance(e, ToolEnd)]) == len(asked)
    starts = [e for e in events if isinstance(e, TurnStart)]
    ends = [f for f in facts(path_of(agent.session)) if isinstance(f, TurnEnded)]
    assert len(starts) == len(ends)


@pytest.mark.parametrize("error", [RequestRejectedError("no"), ConnectionFailedError("lost")])
def test_a_request_that_fails_ends_the_turn_with_its_words(
    error: ProviderError, tmp_path: Path
) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider(error), tmp_path, max_retries=0)
    end = ending(run(agent))
    assert (end.reason, end.error) == ("error", str(error))


def test_progress_comes_between_start_and_end_of_its_call(tmp_path: Path) -> None:
    def body(arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        context.progress("half way")
        return outcome("there")

    provider = ScriptedProvider((Call("a", "walk", {}),), "end")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[Toy("walk", body)])
    events = run(agent)
    assert [e.text for e in events if isinstance(e, ToolProgress)] == ["half way"]
    assert faults(events) == []


def test_a_step_with_a_command_syncs_twice(tmp_path: Path) -> None:
    def syncs(steps: int) -> int:
        disk, folder = CountingDisk(), tmp_path / str(steps)
        folder.mkdir()
        calls = [(Call(f"c{i}", "run", {"say": str(i)}),) for i in range(steps)]
        provider = ScriptedProvider(*calls, "end")
        tools = [echo("run", Effect.EXEC)]
        run(make_agent(start_session(folder, around(disk)), provider, folder, tools=tools))
        return disk.order.count("sync")

    # before the request, and before the command; besides, the last request and the turn's end
    assert syncs(9) - syncs(4) == 5 * 2
    assert syncs(0) == 2
