"""What is durable when a request goes out, a tool begins, a turn ends; and a disk that is full."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentsh.abort import Abort
from agentsh.agent.events import AgentEvent, Notice, StepStart, ToolEnd, ToolStart, TurnEnd
from agentsh.errors import ServerFailedError, SessionNotSavedError
from agentsh.jsontext import JsonObject
from agentsh.messages import UserMessage
from agentsh.providers.base import Request, StreamEvent
from agentsh.session.file.session import Session, open_session
from agentsh.session.format.facts import (
    AttemptEnded,
    RequestSent,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from agentsh.tools.base import Effect, ToolContext, ToolOutcome
from tests.agent.builders import (
    during,
    ending,
    facts,
    make_agent,
    path_of,
    prompts,
    results,
    run,
    start_session,
    text_of,
    unpaired,
)
from tests.session.disks import CountingDisk, FaultyDisk, around
from tests.support.scripted import Call, Doing, ScriptedProvider
from tests.support.toys import Toy, echo, outcome


def on_disk(session: Session) -> Session:
    """What another process would find now."""
    assert session.path is not None
    return open_session(session.path, write=False)


# ---- what is there at each point -----------------------------------------------------------------


class Watching(CountingDisk):
    """Knows which bytes are durable: the size of the file at its last sync."""

    durable = 0

    def fdatasync(self, fd: int) -> None:
        super().fdatasync(fd)
        self.durable = self.fstat(fd).st_size

    def fsync(self, fd: int) -> None:
        super().fsync(fd)
        self.durable = max(self.durable, self.fstat(fd).st_size)


def test_b1_prompt_and_request_are_durable_when_the_request_goes_out(tmp_path: Path) -> None:
    disk = Watching()
    session = start_session(tmp_path, around(disk))
    seen: list[tuple[bool, list[str], int]] = []

    def looking(text: str) -> Doing:
        def doing(request: Request, abort: Abort) -> Iterator[StreamEvent]:
            assert session.path is not None
            with on_disk(session) as found:
                sent = [f for f in facts(path_of(found)) if isinstance(f, RequestSent)]
                durable = disk.durable == session.path.stat().st_size
                seen.append((durable, prompts(found), len(sent)))
            yield from provider.answering(text)

        return doing

    provider = ScriptedProvider(looking("one"), looking("two"))
    agent = make_agent(session, provider, tmp_path)
    run(agent, "first")
    run(agent, "second")
    assert seen == [(True, ["first"], 1), (True, ["first", "second"], 2)]


def test_b2_the_start_of_a_tool_is_durable_when_its_body_runs(tmp_path: Path) -> None:
    disk = Watching()
    session = start_session(tmp_path, around(disk))
    seen: list[object] = []

    def body(arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        assert session.path is not None
        with on_disk(session) as found:
            starts = [f.call_id for f in facts(path_of(found)) if isinstance(f, ToolStarted)]
            seen.append((disk.durable == session.path.stat().st_size, starts))
        return outcome("looked")

    asked = (Call("a", "look", {}), Call("b", "look", {}))
    tools = [Toy("look", body, Effect.EXEC)]
    agent = make_agent(session, ScriptedProvider(asked, "end"), tmp_path, tools=tools)
    run(agent)
    assert seen == [(True, ["a"]), (True, ["a", "b"])]


def test_b3_results_are_durable_when_the_next_request_goes_out(tmp_path: Path) -> None:
    disk = Watching()
    session = start_session(tmp_path, around(disk))
    seen: list[object] = []

    def doing(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        assert session.path is not None
        with on_disk(session) as found:
            seen.append((disk.durable == session.path.stat().st_size, results(found)))
        yield from provider.answering("end")

    provider = ScriptedProvider((Call("a", "echo", {"say": "x"}),), doing)
    agent = make_agent(session, provider, tmp_path, tools=[echo()])
    run(agent)
    assert seen == [(True, [("a", "x", False)])]


def test_b4_the_end_is_durable_when_it_is_told(tmp_path: Path) -> None:
    disk = Watching()
    session = start_session(tmp_path, around(disk))
    agent = make_agent(session, ScriptedProvider("hello"), tmp_path)
    for event in agent.prompt("go"):
        if isinstance(event, TurnEnd):
            assert session.path is not None
            assert disk.durable == session.path.stat().st_size
            with on_disk(session) as found:
                assert any(isinstance(f, TurnEnded) for f in facts(path_of(found)))


def test_a_step_with_a_tool_costs_as_many_syncs_as_it_has_barriers(tmp_path: Path) -> None:
    disk = CountingDisk()
    session = start_session(tmp_path, around(disk))
    provider = ScriptedProvider((Call("a", "echo", {}),), "end")
    agent = make_agent(session, provider, tmp_path, tools=[echo()])
    run(agent)
    before = len([word for word in disk.order if word == "sync"])
    run(agent)
    syncs = len([word for word in disk.order if word == "sync"]) - before
    assert syncs == 2  # B1 and B4: the last step of the script repeats, without a tool


def test_an_answer_is_in_the_file_before_its_calls_are_looked_at(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    found: list[int] = []

    class Looking(Toy, frozen=True):
        def check(self, arguments: JsonObject) -> JsonObject:
            assert session.path is not None
            found.append(session.path.read_bytes().count(b'"toolCall"'))
            return dict(arguments)

    tools = [Looking("look", echo().body)]
    provider = ScriptedProvider((Call("a", "look", {}),), "end")
    run(make_agent(session, provider, tmp_path, tools=tools))
    assert found == [1]


# ---- a disk that is full -------------------------------------------------------------------------


def full_disk() -> FaultyDisk:
    return FaultyDisk(error=errno.ENOSPC)


def notices(events: list[AgentEvent]) -> list[tuple[str, str]]:
    return [(e.level, e.text) for e in events if isinstance(e, Notice)]


def test_a_full_disk_sends_nothing_says_so_and_saves_again_later(tmp_path: Path) -> None:
    disk = full_disk()
    session = start_session(tmp_path, around(disk))
    provider = ScriptedProvider("hello")
    agent = make_agent(session, provider, tmp_path)
    run(agent, "first")

    disk.broken.add("write")
    events = run(agent, "second")
    assert ending(events).reason == "error"
    assert len(provider.requests) == 1
    assert [level for level, text in notices(events) if "no longer saved" in text] == ["error"]

    events = run(agent, "third")
    assert ending(events).reason == "error"
    assert notices(events) == []  # once per trouble

    disk.broken.clear()
    events = run(agent, "fourth")
    assert ending(events).reason == "completed"
    assert ("info", "this session is saved again") in notices(events)
    assert agent.session.saved
    with on_disk(session) as found:
        assert prompts(found)[0] == "first"
        assert prompts(found)[-1] == "fourth"
        assert [path.id for path in path_of(found)] == [path.id for path in path_of(session)]


def test_q03_not_saved_is_said_of_a_barrier_that_failed_until_one_holds(tmp_path: Path) -> None:
    disk = full_disk()
    session = start_session(tmp_path, around(disk))
    refused = ServerFailedError("no", retryable=False)
    provider = ScriptedProvider("hello", refused, "hello again")
    agent = make_agent(session, provider, tmp_path)
    run(agent, "first")
    with pytest.raises(ServerFailedError):
        agent.checkout(None, summarize=True)
    assert agent.report().saved  # a summary that failed lost nothing

    disk.broken.add("write")
    for refuse in (
        lambda: agent.rename("heron"),
        lambda: agent.label(path_of(session)[-1].id, "nest"),
        lambda: agent.checkout(None),
    ):
        with pytest.raises(SessionNotSavedError):
            refuse()
        assert not agent.report().saved
    disk.broken.clear()
    events = run(agent, "third")
    assert agent.report().saved
    assert [event.saved for event in events if isinstance(event, Notice)][-1]


def test_what_was_refused_by_the_disk_is_not_sent_later_as_if_it_stood(tmp_path: Path) -> None:
    """The prompt of a turn that never began goes back to whoever typed it."""
    disk = full_disk()
    session = start_session(tmp_path, around(disk))
    provider = ScriptedProvider("hello")
    agent = make_agent(session, provider, tmp_path)
    run(agent, "first")
    disk.broken.add("write")
    run(agent, "second")
    disk.broken.clear()
    run(agent, "second")
    said = [text_of(m) for m in provider.requests[-1].messages if isinstance(m, UserMessage)]
    assert said == ["first", "second"]


@pytest.mark.parametrize("effect", [Effect.READ, Effect.EXEC])
def test_a_disk_that_fills_before_a_tool_lets_no_body_run_and_answers_each_call(
    effect: Effect, tmp_path: Path
) -> None:
    disk = full_disk()
    session = start_session(tmp_path, around(disk))
    ran: list[str] = []

    def body(arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        ran.append("it ran")
        return outcome("")

    def doing(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        disk.broken.add("write")
        yield from provider.calling(Call("a", "act", {}), Call("b", "act", {}))

    provider = ScriptedProvider(doing, "end")
    agent = make_agent(session, provider, tmp_path, tools=[Toy("act", body, effect)])
    events = run(agent)
    assert ran == []
    assert ending(events).reason == "error"
    assert unpaired(path_of(session)) == []
    assert all("could not be saved" in text for _, text, _ in results(session))

    disk.broken.clear()
    run(agent, "again")
    with on_disk(session) as found:
        assert unpaired(path_of(found)) == []
        assert len(results(found)) == 2


def test_a_disk_that_fills_in_mid_tool_keeps_the_result_and_ends_before_the_next_request(
    tmp_path: Path,
) -> None:
    disk = full_disk()
    session = start_session(tmp_path, around(disk))

    def body(arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        disk.broken.add("write")
        return outcome("done all the same")

    provider = ScriptedProvider((Call("a", "act", {}),), "end")
    agent = make_agent(session, provider, tmp_path, tools=[Toy("act", body, Effect.EXEC)])
    events = run(agent)
    assert ending(events).reason == "error"
    assert len(provider.requests) == 1
    assert results(session) == [("a", "done all the same", False)]
    assert any(isinstance(e, ToolEnd) for e in events)
    disk.broken.clear()
    session.close()
    with on_disk(session) as found:
        assert results(found) == [("a", "done all the same", False)]


def test_a_request_that_could_not_be_put_on_record_says_that_it_was_not_sent(
    tmp_path: Path,
) -> None:
    disk = full_disk()
    session = start_session(tmp_path, around(disk))

    def body(arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        disk.broken.add("sync")
        return outcome("x")

    provider = ScriptedProvider((Call("a", "act", {}),), "end")
    agent = make_agent(session, provider, tmp_path, tools=[Toy("act", body)])
    run(agent)
    disk.broken.clear()
    run(agent, "again")
    ended = [f for f in facts(path_of(session)) if isinstance(f, AttemptEnded)]
    assert [f.error.startswith("not sent: ") for f in ended] == [True]


def test_a_stranger_who_writes_along_ends_the_turn(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    provider = ScriptedProvider("hello")
    agent = make_agent(session, provider, tmp_path)
    run(agent)
    assert session.path is not None
    with session.path.open("ab") as file:
        file.write(b'{"type":"custom","id":"00000001","parentId":null}\n')
    end = ending(run(agent))
    assert end.reason == "error"
    assert len(provider.requests) == 1


def test_the_start_of_a_turn_stands_before_its_prompt(tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello"), tmp_path)
    run(agent)
    kinds = [type(f).__name__ for f in facts(path_of(agent.session))]
    assert kinds == ["Origin", "TurnStarted", "RequestSent", "TurnEnded"]
    assert TurnStarted(1) in facts(path_of(agent.session))


def test_a_step_and_a_tool_name_their_facts(tmp_path: Path) -> None:
    provider = ScriptedProvider((Call("a", "echo", {}),), "end")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[echo()])
    kinds: list[str] = []

    def look(events: list[AgentEvent]) -> None:
        for event in events:
            if isinstance(event, StepStart | ToolStart):
                assert event.entry is not None
                kinds.extend(type(f).__name__ for f in facts([agent.session.entry(event.entry)]))

    look(during(agent, "go", ToolEnd, lambda: None))
    assert kinds == ["RequestSent", "ToolStarted", "RequestSent"]


def test_a_stranger_who_writes_along_in_mid_tool_does_not_cost_the_result(tmp_path: Path) -> None:
    session = start_session(tmp_path)

    def body(arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        assert session.path is not None
        with session.path.open("ab") as file:
            file.write(b'{"type":"custom","id":"00000001","parentId":null}\n')
        return outcome("done all the same")

    provider = ScriptedProvider((Call("a", "act", {}),), "end")
    agent = make_agent(session, provider, tmp_path, tools=[Toy("act", body, Effect.EXEC)])
    assert ending(run(agent)).reason == "error"
    assert results(session) == [("a", "done all the same", False)]
    assert len(provider.requests) == 1
