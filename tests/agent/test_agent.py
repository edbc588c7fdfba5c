"""The programmatic face: one turn at a time, settings, names, and commands of the person's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.agent.agent import Agent
from agentsh.agent.events import TextPart, ToolProgress
from agentsh.agent.turn.approvals import ApprovalAnswer
from agentsh.errors import RefusedError, UsageError
from agentsh.messages import BashExecutionMessage, Image, ModelRef, UserMessage
from agentsh.session.format.entries import MessageBody
from tests.agent.builders import (
    ending,
    make_agent,
    messages,
    path_of,
    prompts,
    reopen,
    run,
    start_session,
    texts,
)
from tests.support.scripted import Call, ScriptedProvider
from tests.support.toys import echo


def is_running(agent: Agent) -> bool:
    return agent.running


def test_one_turn_at_a_time(tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello"), tmp_path)
    events = agent.prompt("one")
    next(events)
    assert is_running(agent)
    with pytest.raises(RefusedError):
        next(iter(agent.prompt("two")))
    with pytest.raises(RefusedError):
        list(agent.compact())
    with pytest.raises(RefusedError):
        agent.shell("echo x", excluded=False, progress=lambda _: None)
    list(events)
    assert not is_running(agent)
    assert ending(run(agent, "two")).reason == "completed"


def test_a_person_may_come_and_go(tmp_path: Path) -> None:
    provider = ScriptedProvider((Call("a", "bash", {"command": "echo x"}),), "end")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, policy="ask")
    assert agent.approver is None
    agent.approver = lambda _: ApprovalAnswer("once")
    assert agent.approver is not None
    assert ending(run(agent)).reason == "completed"
    assert agent.model == ModelRef("scripted", "model-1")


def test_a_picture_goes_along(tmp_path: Path) -> None:
    provider = ScriptedProvider("I see")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    list(agent.prompt("look", (Image("aGk=", "image/png"),)))
    (message,) = [m for m in messages(agent.session) if isinstance(m, UserMessage)]
    assert [type(block).__name__ for block in message.content] == ["Text", "Image"]


def test_a_level_of_thinking_that_there_is_not_is_refused(tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello"), tmp_path)
    with pytest.raises(UsageError, match="immense"):
        agent.set_thinking("immense")
    agent.set_thinking("high")
    run(agent)
    assert agent.report().thinking == "high"


def test_a_resume_says_what_differs(tmp_path: Path) -> None:
    with start_session(tmp_path) as session:
        run(make_agent(session, ScriptedProvider("hello"), tmp_path))
    with reopen(tmp_path) as session:
        agent = make_agent(session, ScriptedProvider("hello"), tmp_path)
        assert agent.changes() == ()
        agent.use(agent.provider, "model-2")
        assert agent.changes() == ("model model-1 → model-2",)


def test_names_and_labels_are_durable(tmp_path: Path) -> None:
    with start_session(tmp_path) as session:
        agent = make_agent(session, ScriptedProvider("hello"), tmp_path)
        run(agent)
        leaf = session.leaf
        assert leaf is not None
        agent.label(leaf, "here")
        agent.rename("a name")
        assert session.saved
    with reopen(tmp_path) as session:
        assert session.tree.name == "a name"
        assert session.resolve("here") == leaf


def test_a_command_of_the_persons_own_is_told_to_the_model(tmp_path: Path) -> None:
    provider = ScriptedProvider("hello")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    heard: list[str] = []
    ran = agent.shell("echo loud; exit 3", excluded=False, progress=heard.append)
    assert (ran.output.strip(), ran.exit_code) == ("loud", 3)
    assert "loud" in "".join(heard)
    quiet = agent.shell("echo secret", excluded=True, progress=lambda _: None)
    assert quiet.excluded
    run(agent)
    assert b"loud" in provider.bodies[0]
    assert b"secret" not in provider.bodies[0]
    stored = [m for m in messages(agent.session) if isinstance(m, BashExecutionMessage)]
    assert stored == [ran, quiet]


def test_a_command_can_be_stopped_and_the_next_turn_is_not(tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello"), tmp_path)
    ran = agent.shell("echo up; sleep 30", excluded=False, progress=lambda _: agent.abort())
    assert ran.cancelled
    assert ending(run(agent)).reason == "completed"


# ---- after a crash -------------------------------------------------------------------------------


def test_r54_a_turn_that_was_cut_off_is_named_until_one_goes_on(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    provider = ScriptedProvider((Call("a", "echo", {}), Call("b", "echo", {})), "end")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[echo()])
    assert agent.interrupted() is None
    for event in agent.prompt("do this\nand that"):
        if type(event).__name__ == "ToolStart":
            data = (tmp_path / "session.jsonl").read_bytes()
            (copy / "session.jsonl").write_bytes(data)
    with reopen(copy) as session:
        again = make_agent(session, ScriptedProvider("hello"), copy, tools=[echo()])
        found = again.interrupted()
        assert found is not None
        assert found.prompt == "do this\nand that"
        assert found.calls == ("echo", "echo")
        assert "do this and that" in found.words()
        assert "echo, echo" in found.words()
        run(again, "go on")
        assert again.interrupted() is None
        assert prompts(session) == ["do this\nand that", "go on"]
    with reopen(copy) as session:
        assert make_agent(session, ScriptedProvider("hello"), copy).interrupted() is None


def test_r53_what_was_done_before_the_crash_is_there_after_it(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    script = ((Call("a", "echo", {"say": "done before"}),), "the half")
    agent = make_agent(start_session(tmp_path), ScriptedProvider(*script), tmp_path, tools=[echo()])
    for event in agent.prompt("go"):
        if isinstance(event, TextPart):
            data = (tmp_path / "session.jsonl").read_bytes()
            (copy / "session.jsonl").write_bytes(data)
    with reopen(copy) as session:
        provider = ScriptedProvider("hello")
        run(make_agent(session, provider, copy, tools=[echo()]), "go on")
    assert b"done before" in provider.bodies[0]


def test_stopping_a_tool_from_another_thread_is_safe(tmp_path: Path) -> None:
    import threading

    provider = ScriptedProvider((Call("a", "bash", {"command": "echo on; sleep 30"}),), "end")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    ended: list[str] = []

    def turn() -> None:
        for event in agent.prompt("go"):
            if isinstance(event, ToolProgress):
                running.set()
            ended.append(type(event).__name__)

    running = threading.Event()
    thread = threading.Thread(target=turn)
    thread.start()
    assert running.wait(20)
    agent.steer("never mind")
    agent.abort()
    thread.join(20)
    assert ended[-1] == "TurnEnd"
    assert texts(agent.take_back()) == ("never mind",)
    assert any(isinstance(e.body, MessageBody) for e in path_of(agent.session))
