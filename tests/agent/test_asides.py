"""A side question leaves no trace on the path, wherever the file ends."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

from agentsh.abort import Abort
from agentsh.agent.asides import Asides
from agentsh.agent.events import AgentEvent, MessageDone, ToolStart
from agentsh.agent.replay import check
from agentsh.agent.turn.recorder import Recorder
from agentsh.agent.turn.requests import step_request, target_of
from agentsh.context.projection import project
from agentsh.session.file.session import open_session
from tests.agent.builders import (
    during,
    ending,
    make_agent,
    path_of,
    quick,
    reopen,
    run,
    start_session,
    text_of,
    unpaired,
)
from tests.support.scripted import Call, ScriptedProvider
from tests.support.toys import echo


def test_killed_at_any_byte_the_next_request_is_as_if_nothing_had_been_asked(
    tmp_path: Path,
) -> None:
    provider = ScriptedProvider("answer", "It is grey.")
    session = start_session(tmp_path)
    agent = make_agent(session, provider, tmp_path)
    run(agent, "alpha")
    assert session.path is not None
    size = session.path.stat().st_size
    target = target_of(agent.config, provider)
    leaf, body = session.leaf, step_request(project(session.branch()), target).body

    recorder = Recorder(session, lambda: 1.0, lambda _: None)
    events = list(Asides(recorder, provider, 0).ask("Which colour?", target, 1, Abort()))

    done = events[-1]
    assert isinstance(done, MessageDone)
    assert done.entry not in session.tree.path(session.leaf)
    assert step_request(project(session.branch()), target).body == body
    assert leaf in session.tree.path(session.leaf)
    assert list(check(session)) == []
    session.close()
    whole = session.path.read_bytes()
    cut = tmp_path / "cut.jsonl"
    for end in range(size, len(whole) + 1, 7):
        cut.write_bytes(whole[:end])
        with open_session(cut, write=False, around=quick()) as seen:
            assert step_request(project(seen.branch()), target).body == body
    with reopen(tmp_path) as again:
        assert step_request(project(again.branch()), target).body == body


def test_asked_while_a_tool_runs_the_turn_knows_nothing_of_it(tmp_path: Path) -> None:
    """By another thread, as the chat does."""
    provider = ScriptedProvider((Call("a", "echo", {"say": "one"}),), "It is grey.", "done")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[echo()])
    said: list[AgentEvent] = []

    def ask() -> None:
        asker = Thread(target=lambda: said.extend(agent.aside("Which colour?", Abort())))
        asker.start()
        asker.join()

    turn = during(agent, "go", ToolStart, ask)

    assert ending(turn).reason == "completed"
    assert isinstance(said[-1], MessageDone)
    assert said[-1].message.text == "It is grey."
    assert text_of(provider.requests[1].messages[-1]).startswith(
        "Which colour?\n\n(This is an aside"
    )
    assert [text_of(m) for m in provider.requests[2].messages] == ["go", "", "one"]
    assert said[-1].entry not in agent.session.tree.path(agent.session.leaf)
    assert unpaired(path_of(agent.session)) == []
    assert list(check(agent.session)) == []
