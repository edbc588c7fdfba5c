"""An automatic title is asked for once, where it is wanted; it holds nobody up, fails nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentsh.abort import Abort
from agentsh.agent.agent import Agent
from agentsh.agent.config import CostLimits
from agentsh.agent.events import AgentEvent, Notice, TurnEnd
from agentsh.agent.replay import body, check, recorded
from agentsh.agent.summaries.titler import MAX_ASKED, Titler
from agentsh.errors import ConnectionFailedError, ProviderError
from agentsh.messages import AssistantMessage, Cost, Usage, UserMessage
from agentsh.providers.base import Request, StreamEvent
from agentsh.session.exchange.fork import fork_session
from agentsh.session.file.session import open_session
from agentsh.session.format.entries import UsageRecord
from agentsh.session.format.facts import AttemptEnded, RequestSent, Titled, TurnEnded
from agentsh.session.health.verify import verify_file
from agentsh.session.search.costgroups import cost_of_session
from agentsh.session.store.store import Store
from agentsh.session.store.summary import Summary, summarize
from tests.agent.builders import (
    ending,
    facts,
    make_agent,
    path_of,
    prompts,
    reopen,
    run,
    start_session,
)
from tests.session.disks import FaultyDisk, QuickDisk, around
from tests.support.scripted import Call, ScriptedProvider, Step
from tests.support.toys import echo


def titling(
    folder: Path, *script: Step, title: bool = True, cost: CostLimits | None = None
) -> tuple[Agent, ScriptedProvider]:
    provider = ScriptedProvider(*script, usage=Usage(input=9, output=1, cost=Cost(total=2.0)))
    agent = make_agent(
        start_session(folder),
        provider,
        folder,
        tools=[echo()],
        title=title,
        cost=cost or CostLimits(),
    )
    return agent, provider


def listed(folder: Path) -> Summary:
    summary = summarize(folder / "session.jsonl")
    assert summary is not None
    return summary


def asked(agent: Agent) -> list[RequestSent]:
    found = facts(agent.session.entries())
    return [f for f in found if isinstance(f, RequestSent) and f.kind == "title"]


def failures(agent: Agent) -> list[str]:
    return [f.error for f in facts(agent.session.entries()) if isinstance(f, AttemptEnded)]


def notices(events: list[AgentEvent]) -> list[str]:
    return [e.text for e in events if isinstance(e, Notice)]


# ---- when it is asked for ------------------------------------------------------------------------


def test_without_the_setting_no_request_is_made(tmp_path: Path) -> None:
    agent, provider = titling(tmp_path, "hello", title=False)
    run(agent)

    assert len(provider.requests) == 1
    assert listed(tmp_path).title is None


def test_the_first_turn_gives_a_session_its_title_and_no_later_one(tmp_path: Path) -> None:
    agent, provider = titling(tmp_path, "it is a heron", '"Herons of the lake."', "more")
    events = run(agent, "what bird is this?")
    run(agent, "and this?")

    assert isinstance(events[-1], TurnEnd)  # nothing is said about it
    assert listed(tmp_path).title == "Herons of the lake"
    assert len(provider.requests) == 3
    request = provider.requests[1]
    assert request.tools == ()
    assert b"what bird is this?" in provider.bodies[1]
    assert b"it is a heron" in provider.bodies[1]


def test_it_comes_after_the_end_of_the_turn_and_is_log_only(tmp_path: Path) -> None:
    agent, _ = titling(tmp_path, "hello", "A title")
    run(agent)
    context = agent._projector.now()

    told = facts(path_of(agent.session))
    end = next(f for f in told if isinstance(f, TurnEnded))
    assert isinstance(told[-1], Titled)
    assert told.index(end) < told.index(asked(agent)[0]) < told.index(told[-1])
    said = [type(item.message) for item in context.items]
    assert said == [UserMessage, AssistantMessage]
    ended = next(e for e in path_of(agent.session) if e.id == told[-1].leaf)
    assert facts([ended]) == [end]


def test_a_session_that_has_a_title_is_not_asked_about_in_another_process(tmp_path: Path) -> None:
    titled, _ = titling(tmp_path, "hello", "A title")
    run(titled)
    titled.close()
    provider = ScriptedProvider("again")
    with reopen(tmp_path) as session:
        agent = make_agent(session, provider, tmp_path, title=True)
        run(agent)

    assert len(provider.requests) == 1
    assert listed(tmp_path).title == "A title"


def test_a_turn_that_failed_gives_none(tmp_path: Path) -> None:
    error = ProviderError("no", retryable=False)
    agent, provider = titling(tmp_path, error, "A title")
    assert ending(run(agent)).reason == "error"

    assert len(provider.requests) == 1


def test_past_the_limit_of_costs_none_is_asked_for(tmp_path: Path) -> None:
    agent, provider = titling(tmp_path, "hello", "A title", cost=CostLimits(stop=1.0))
    run(agent)

    assert len(provider.requests) == 1


# ---- the person's own wins -----------------------------------------------------------------------


def test_a_session_with_a_name_of_its_own_is_not_asked_about(tmp_path: Path) -> None:
    agent, provider = titling(tmp_path, "hello", "A title")
    agent.rename("mine")
    run(agent)

    assert len(provider.requests) == 1


def test_a_name_given_meanwhile_drops_the_result(tmp_path: Path) -> None:
    def renamed(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        agent.rename("mine")
        yield from provider.answering("A title")

    agent, provider = titling(tmp_path, "hello", renamed)
    events = run(agent)

    assert isinstance(events[-1], TurnEnd)
    assert (listed(tmp_path).name, listed(tmp_path).title) == ("mine", None)


def test_a_name_given_later_is_shown_and_a_cleared_one_gives_way(tmp_path: Path) -> None:
    agent, _ = titling(tmp_path, "hello", "A title")
    run(agent)
    assert listed(tmp_path).shown_name == listed(tmp_path).shown_title == "A title"
    agent.rename("mine")
    assert (listed(tmp_path).shown_name, listed(tmp_path).shown_title) == ("mine", None)
    agent.rename("")
    assert listed(tmp_path).shown_name == "A title"


def test_a_result_from_a_place_that_was_left_is_dropped(tmp_path: Path) -> None:
    def moved(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        agent.session.move(None, "tree")
        yield from provider.answering("A title")

    agent, provider = titling(tmp_path, "hello", moved)
    run(agent)

    assert listed(tmp_path).title is None


# ---- what goes wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize("step", [ConnectionFailedError("lost"), " \n", '"."'])
def test_a_failure_leaves_an_attempt_and_one_notice(step: Step, tmp_path: Path) -> None:
    agent, provider = titling(tmp_path, "hello", step, "more", "never asked")
    events = run(agent)
    run(agent)

    assert [e.reason for e in events if isinstance(e, TurnEnd)] == ["completed"]
    assert len(notices(events)) == len(failures(agent)) == 1
    assert listed(tmp_path).title is None
    assert len(provider.requests) == 3  # not tried again by this process
    assert agent.session.saved


def test_what_failed_often_enough_is_never_tried_again(tmp_path: Path) -> None:
    for i in range(MAX_ASKED + 2):
        provider = ScriptedProvider("hello", " ")
        session = start_session(tmp_path) if i == 0 else reopen(tmp_path)
        agent = make_agent(session, provider, tmp_path, title=True)
        run(agent)
        agent.close()
        assert len(provider.requests) == (2 if i < MAX_ASKED else 1)


def waiting(request: Request, abort: Abort) -> Iterator[StreamEvent]:
    assert abort.wait(10), "nobody stopped it"
    yield from ()


def test_an_abort_stops_it_quietly_and_the_turn_is_still_well(tmp_path: Path) -> None:
    def stopped(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        agent.abort()
        yield from waiting(request, abort)

    agent, _ = titling(tmp_path, "hello", stopped, "more")
    events = run(agent)

    assert isinstance(events[-1], TurnEnd)
    assert events[-1].reason == "completed"
    assert ending(run(agent)).reason == "completed"  # the abort was for the title alone


@pytest.mark.parametrize("way", ["steer", "follow_up"])
def test_the_next_prompt_does_not_wait_and_the_title_comes_later(way: str, tmp_path: Path) -> None:
    def overtaken(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        getattr(agent, way)("the next prompt")
        yield from waiting(request, abort)

    agent, provider = titling(tmp_path, "hello", overtaken, "to that", "again", "A title")
    events = run(agent, "first")

    assert notices(events) == []
    assert prompts(agent.session) == ["first", "the next prompt"]
    assert agent.queued() == ()
    run(agent, "third")
    assert listed(tmp_path).title == "A title"
    assert len(provider.requests) == 5


def test_a_silent_server_is_left_soon(tmp_path: Path) -> None:
    agent, _ = titling(tmp_path, "hello", waiting)
    inside = agent._its_titler()
    agent._titler = Titler(
        inside._recorder,
        inside._projector,
        inside._provider,
        inside._inbox,
        inside._budget,
        limit=0.05,
    )
    begun = time.monotonic()
    events = run(agent)

    assert time.monotonic() - begun < 5
    assert len(notices(events)) == 1
    assert "took too long" in failures(agent)[0]


def test_a_disk_that_is_full_fails_no_turn(tmp_path: Path) -> None:
    disk = FaultyDisk()
    session = start_session(tmp_path, around(disk))

    def filled(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        disk.room = 0
        yield from provider.answering("A title")

    provider = ScriptedProvider("hello", filled)
    agent = make_agent(session, provider, tmp_path, title=True)
    events = run(agent)

    assert [e.reason for e in events if isinstance(e, TurnEnd)] == ["completed"]
    disk.room = None
    agent.close()
    assert listed(tmp_path).title == "A title"


def test_a_crash_before_the_answer_is_nothing_to_close(tmp_path: Path) -> None:
    agent, _ = titling(tmp_path, "hello", "A title")
    run(agent)
    agent.close()
    path = tmp_path / "session.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if b'"kind":"title"' in line)
    path.write_bytes(b"".join(lines[: at + 1]))

    with reopen(tmp_path) as session:
        again = make_agent(session, ScriptedProvider("more", "Another"), tmp_path, title=True)
        assert again.interrupted() is None
        run(again)
    assert listed(tmp_path).title == "Another"
    assert verify_file(path).problems == ()


# ---- what is kept --------------------------------------------------------------------------------


def test_its_request_is_rebuilt_from_the_file(tmp_path: Path) -> None:
    agent, provider = titling(tmp_path, (Call("a", "echo", {"say": "hi"}),), "done", "A title")
    run(agent, "x" * 5000)
    agent.close()

    with open_session(tmp_path / "session.jsonl", write=False) as session:
        items = recorded(session)
        assert [item.fact.kind for item in items] == ["step", "step", "title"]
        assert [body(session, item) for item in items] == provider.bodies
        assert list(check(session)) == []
        assert items[-1].reply is not None
    assert verify_file(tmp_path / "session.jsonl").problems == ()


def test_what_it_took_is_counted(tmp_path: Path) -> None:
    agent, _ = titling(tmp_path, "hello", "A title")
    run(agent)
    (record,) = [e.body for e in path_of(agent.session) if isinstance(e.body, UsageRecord)]

    assert (record.kind, record.model) == ("title", "model-1")
    assert agent.report().cost == agent.budget.spending().usage.cost.total == 4.0
    agent.close()
    assert cost_of_session(tmp_path / "session.jsonl").own.usage.cost.total == 4.0


def test_a_fork_has_its_title(tmp_path: Path) -> None:
    agent, _ = titling(tmp_path, "hello", "A title")
    run(agent)
    store = Store(tmp_path / "store", around=around(QuickDisk()))
    child = fork_session(agent.session, agent.session.leaf, store)

    assert child != agent.session.path
    (row,) = store.rows()
    assert (row.name, row.title) == ("A title", "A title")
