"""Messages queued in mid-turn: durable at once, said exactly once, found again after a crash."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.agent.events import (
    AgentEvent,
    Compacted,
    MessageDone,
    Steered,
    StepStart,
    TextPart,
    TurnEnd,
    TurnStart,
)
from agentsh.agent.turn.inbox import left_waiting
from agentsh.errors import RequestRejectedError, SessionNotSavedError
from agentsh.messages import Image, UserMessage
from agentsh.session.file.session import open_session
from agentsh.session.format.facts import InboxChanged
from tests.agent.builders import (
    during,
    ending,
    facts,
    make_agent,
    path_of,
    prompts,
    quick,
    reopen,
    run,
    start_session,
    text_of,
    texts,
)
from tests.agent.order import faults
from tests.session.disks import FaultyDisk, around
from tests.support.scripted import Call, ScriptedProvider
from tests.support.toys import echo


def said(provider: ScriptedProvider) -> list[list[str]]:
    """The user messages of each request."""
    return [
        [text_of(m) for m in request.messages if isinstance(m, UserMessage)]
        for request in provider.requests
    ]


def waiting_on_disk(folder: Path) -> list[str]:
    with open_session(folder / "session.jsonl", write=False) as session:
        return [item.text for item in left_waiting(path_of(session))]


def test_a_steer_goes_with_the_next_request_after_the_running_tools(tmp_path: Path) -> None:
    provider = ScriptedProvider((Call("a", "echo", {}),), "end")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[echo()])
    events = during(agent, "go", MessageDone, lambda: agent.steer("mind this"))
    assert said(provider) == [["go"], ["go", "mind this"]]
    assert [text_of(e.message) for e in events if isinstance(e, Steered)] == ["mind this"]
    assert faults(events) == []


def test_a_steer_after_the_last_answer_leads_to_another_step(tmp_path: Path) -> None:
    provider = ScriptedProvider("first", "second")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    events = during(agent, "go", TextPart, lambda: agent.steer("but"))
    assert said(provider) == [["go"], ["go", "but"]]
    assert [type(e).__name__ for e in events].count("TurnStart") == 1


def test_a_steer_that_comes_too_late_starts_a_turn(tmp_path: Path) -> None:
    provider = ScriptedProvider("first", "second")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    events = during(agent, "go", TurnEnd, lambda: agent.steer("too late"))
    assert said(provider) == [["go"], ["go", "too late"]]
    assert [type(e).__name__ for e in events].count("TurnStart") == 2
    assert faults(events) == []


def test_follow_ups_start_a_turn_each_in_their_order(tmp_path: Path) -> None:
    provider = ScriptedProvider("1", "2", "3")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)

    def queue() -> None:
        agent.follow_up("second")
        agent.follow_up("third")
        assert [(q.kind, q.text) for q in agent.queued()] == [
            ("follow-up", "second"),
            ("follow-up", "third"),
        ]

    events = during(agent, "first", StepStart, queue)
    assert said(provider)[-1] == ["first", "second", "third"]
    assert len([e for e in events if isinstance(e, TurnStart)]) == 3
    assert agent.queued() == ()


def test_what_waits_is_durable_before_it_counts_as_queued(tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello"), tmp_path)

    def queue() -> None:
        agent.follow_up("later")
        assert agent.session.saved
        assert waiting_on_disk(tmp_path) == ["later"]

    during(agent, "go", TextPart, queue)


def test_pictures_that_wait_are_on_record_before_they_count_as_queued(tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello"), tmp_path)
    picture = Image("aGVyb24=", "image/png")

    def queue() -> None:
        agent.follow_up("later", (picture,))
        with open_session(tmp_path / "session.jsonl", write=False, around=quick()) as session:
            [left] = left_waiting(path_of(session))
        assert (left.text, left.images) == ("later", (picture,))

    during(agent, "go", TextPart, queue)


def test_an_abort_leaves_the_queue_and_take_back_empties_it(tmp_path: Path) -> None:
    provider = ScriptedProvider("hello")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)

    def stop() -> None:
        agent.steer("one")
        agent.follow_up("two")
        agent.abort()

    run_events = during(agent, "go", StepStart, stop)
    assert len(provider.requests) == 1
    assert isinstance(run_events[-1], TurnEnd)
    assert texts(agent.take_back()) == ("one", "two")
    assert agent.queued() == ()
    run(agent, "next")
    assert said(provider)[-1] == ["go", "next"]


def test_a_turn_that_fails_leaves_what_waits_to_whoever_asked(tmp_path: Path) -> None:
    provider = ScriptedProvider(RequestRejectedError("no"))
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    events = during(agent, "go", StepStart, lambda: agent.follow_up("and then"))
    assert ending(events).reason == "error"
    assert len(provider.requests) == 1
    assert [q.text for q in agent.queued()] == ["and then"]


def test_the_message_names_the_fact_that_it_was_queued(tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("1", "2"), tmp_path)
    events = during(agent, "go", TextPart, lambda: agent.steer("but"))
    (steered,) = [e for e in events if isinstance(e, Steered)]
    stamp = agent.session.entry(steered.entry).stamp
    assert stamp is not None
    (source,) = stamp.sources
    (fact,) = facts([agent.session.entry(source)])
    assert fact == InboxChanged("queued", "q1", "steer", "but")


def test_a_message_that_the_disk_refused_is_not_queued(tmp_path: Path) -> None:
    disk = FaultyDisk()
    agent = make_agent(start_session(tmp_path, around(disk)), ScriptedProvider("1"), tmp_path)
    run(agent)
    disk.broken.add("sync")
    with pytest.raises(SessionNotSavedError):
        agent.follow_up("lost?")
    assert agent.queued() == ()
    disk.broken.clear()
    run(agent)
    assert waiting_on_disk(tmp_path) == []
    assert prompts(agent.session) == ["go", "go"]


# ---- after a crash -------------------------------------------------------------------------------


def crashed(folder: Path, to: Path) -> None:
    """The file as a SIGKILL would leave it now."""
    (to / "session.jsonl").write_bytes((folder / "session.jsonl").read_bytes())


def test_what_waited_is_found_again_and_gone_once_it_was_said(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello"), tmp_path)

    def kill() -> None:
        agent.steer("one")
        agent.follow_up("two")
        crashed(tmp_path, copy)

    during(agent, "go", TextPart, kill)
    with reopen(copy) as session:
        again = make_agent(session, ScriptedProvider("hello"), copy)
        assert texts(again.pending()) == ("one", "two")
        size = (copy / "session.jsonl").stat().st_size
        assert texts(again.pending()) == ("one", "two")
        assert (copy / "session.jsonl").stat().st_size == size  # looking writes nothing
        run(again, "one and two")
        assert again.pending() == ()
    with reopen(copy) as session:
        assert make_agent(session, ScriptedProvider("hello"), copy).pending() == ()


def test_what_nobody_was_shown_waits_on(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello"), tmp_path)

    def kill() -> None:
        agent.follow_up("two")
        crashed(tmp_path, copy)

    during(agent, "go", TextPart, kill)
    with reopen(copy) as session:
        run(make_agent(session, ScriptedProvider("hello"), copy), "something else")
    with reopen(copy) as session:
        again = make_agent(session, ScriptedProvider("hello"), copy)
        assert texts(again.pending()) == ("two",)
        again.follow_up("three")  # its id is not that of an earlier process
        run(again, "go on")
        assert prompts(session)[-2:] == ["go on", "three"]


def test_a_checkout_ends_the_wait(tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello"), tmp_path)
    run(agent)
    place = agent.session.leaf
    agent.follow_up("left behind")
    agent.checkout(place)
    assert left_waiting(path_of(agent.session)) == ()


@given(st.integers(0, 60), st.data())
def test_cut_anywhere_a_queued_message_was_said_or_waits(
    tmp_path_factory: pytest.TempPathFactory, when: int, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    provider = ScriptedProvider((Call("a", "echo", {}),), "one", "two", "three")
    agent = make_agent(start_session(folder), provider, folder, tools=[echo()])
    durable_from = 0
    for i, _event in enumerate(agent.prompt("go")):
        if i == min(when, 5):
            agent.steer("steered")
            agent.follow_up("followed")
            durable_from = (folder / "session.jsonl").stat().st_size
    agent.session.close()
    whole = (folder / "session.jsonl").read_bytes()
    at = data.draw(st.integers(durable_from, len(whole)))
    (folder / "session.jsonl").write_bytes(whole[:at])
    with open_session(folder / "session.jsonl", write=False, around=quick()) as session:
        there = [
            *prompts(session),
            *(item.text for item in left_waiting(path_of(session))),
        ]
    assert sorted(there) == ["followed", "go", "steered"]


def test_a_compaction_keeps_what_waits_findable(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    provider = ScriptedProvider((Call("a", "echo", {"say": "x" * 12000}),), "the summary", "end")
    agent = make_agent(
        start_session(tmp_path), provider, tmp_path, tools=[echo()], context_window=3500, keep=10
    )
    events: list[AgentEvent] = []
    for event in agent.prompt("go"):
        if isinstance(event, StepStart):
            if event.number == 1:
                agent.follow_up("waits")
            else:
                crashed(tmp_path, copy)
                break
        events.append(event)
    assert any(isinstance(e, Compacted) and e.entry is not None for e in events)
    with open_session(copy / "session.jsonl", write=False) as session:
        live = session.live(repaired=False)
        assert not live.complete
        assert [q.text for q in left_waiting(live.entries)] == ["waits"]
