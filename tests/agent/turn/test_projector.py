"""The projection is made once and grows with the path; what it says is what a new one would say."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from agentsh.agent.growth import grown, last_entry
from agentsh.agent.turn.projector import Projector
from agentsh.agent.turn.usage import Meter, spent
from agentsh.context.projection import project
from agentsh.errors import AgentshError, SessionNotSavedError
from agentsh.messages import Text, UserMessage
from agentsh.session.file.session import Session
from agentsh.session.format.entries import MessageBody
from tests.agent.builders import make_agent, reopen, run, start_session
from tests.agent.talks import TALKS, TOOLS, Act, Changing, do
from tests.session.disks import FaultyDisk, around
from tests.support.scripted import Call, ScriptedProvider
from tests.support.toys import echo


def counted(folder: Path, *script: object) -> tuple[Projector, ScriptedProvider]:
    provider = ScriptedProvider(*script)  # type: ignore[arg-type]
    agent = make_agent(start_session(folder), provider, folder, tools=[echo()])
    run(agent)
    return agent._projector, provider


def test_no_step_projects_the_path_more_than_once(tmp_path: Path) -> None:
    script = [(Call(f"c{i}", "echo", {"say": str(i)}),) for i in range(20)]
    projector, provider = counted(tmp_path, *script, "end")
    assert len(provider.requests) == 21
    assert projector.projections <= 3


def test_facts_and_messages_need_no_projection(tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello"), tmp_path)
    run(agent)
    before = agent._projector.projections
    for _ in range(5):
        run(agent)
        agent.report()
    assert agent._projector.projections == before


@settings(max_examples=100)
@given(TALKS)
def test_it_says_what_a_new_projection_would_say(acts: list[Act]) -> None:
    provider = Changing()
    agent = make_agent(
        start_session(None), provider, Path("/nowhere"), tools=TOOLS, max_retries=1, max_steps=6
    )
    for act in acts:
        try:
            do(agent, provider, act)
        except AgentshError:
            continue
        assert agent._projector.now() == project(agent.session.live())


def test_a_repair_that_is_only_shown_is_not_counted_twice(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    provider = ScriptedProvider((Call("a", "echo", {}),), "end")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[echo()])
    for event in agent.prompt("go"):
        if type(event).__name__ == "ToolStart":
            data = (tmp_path / "session.jsonl").read_bytes()
            (copy / "session.jsonl").write_bytes(data)
    with reopen(copy) as session:
        projector = Projector(session)
        shown = projector.now()
        assert len(shown.items) == 3
        session.append(MessageBody(UserMessage((Text("next"),), 1)))
        assert projector.now() == project(session.live())
        assert len(projector.now().items) == 4


def test_a_withdrawn_entry_is_not_taken_for_one_that_has_its_id(tmp_path: Path) -> None:
    disk = FaultyDisk()
    session = start_session(tmp_path, around(disk))
    said(session, "first")
    session.barrier()
    projector = Projector(session)
    disk.broken.add("sync")
    lost = said(session, "lost")
    assert len(projector.now().items) == 2
    with pytest.raises(SessionNotSavedError):
        session.barrier()
    session.withdraw()
    assert said(session, "kept") == lost  # the same line has the same id
    assert projector.now() == project(session.live())
    assert "lost" not in str(projector.now())


# ---- growth --------------------------------------------------------------------------------------


def ids(entries: object) -> list[str]:
    return [entry.id for entry in entries]  # type: ignore[attr-defined]


def said(session: Session, text: str) -> str:
    return session.append(MessageBody(UserMessage((Text(text),), 1))).id


def test_growth_is_what_was_appended_since() -> None:
    session = start_session(None)
    assert grown(session, last_entry(session)) == ()
    said(session, "1")
    since = last_entry(session)
    added = [said(session, "2"), said(session, "3")]
    assert ids(grown(session, since)) == added


def test_growth_is_unknown_after_a_move() -> None:
    session = start_session(None)
    place = said(session, "1")
    said(session, "2")
    since = last_entry(session)
    session.move(session.entry(place).id, "tree")  # type: ignore[arg-type]
    assert grown(session, since) is None


# ---- what it took --------------------------------------------------------------------------------


def test_the_meter_looks_at_each_entry_once(tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello"), tmp_path)
    meter = Meter(agent.session)
    for turns in range(1, 4):
        run(agent)
        assert meter.total().total_tokens == turns * 110
        assert meter.total() == spent(agent.session.live().entries)


def test_a_report_forgets_nothing_that_a_compaction_hid(tmp_path: Path) -> None:
    provider = ScriptedProvider("x" * 4000, "the summary")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    run(agent, "y" * 4000)
    assert agent.report().usage.total_tokens == 110
    list(agent.compact(keep=1))
    assert agent.report().usage.total_tokens == 220


def test_a_compaction_and_a_resume_take_nothing_from_what_the_session_took(
    tmp_path: Path,
) -> None:
    provider = ScriptedProvider("x" * 4000, "the summary", "on", "another summary", "end")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    for turns in range(2):
        run(agent, "y" * 4000)
        list(agent.compact(keep=1))
        told = agent.report()
        assert told.usage.total_tokens == 220 * (turns + 1)
        assert Meter(agent.session).total() == told.usage  # the path, read anew
    run(agent)
    told = agent.report()
    agent.session.close()
    session = reopen(tmp_path)
    assert not session.live().complete
    again = make_agent(session, ScriptedProvider("x"), tmp_path).report()
    assert (again.usage, again.cost) == (told.usage, told.cost)


def test_a_report_is_of_the_path_that_one_is_on(tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello"), tmp_path)
    run(agent)
    fork = agent.session.leaf
    run(agent)
    assert agent.report().usage.total_tokens == 220
    agent.checkout(fork)
    assert agent.report().usage.total_tokens == 110


@pytest.mark.parametrize("name", ["policy", "model", "thinking", "cwd"])
def test_a_report_has_the_figures_of_the_status_line(name: str, tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello", window=9), tmp_path)
    report = agent.report()
    expected = {
        "policy": "all",
        "model": "model-1",
        "thinking": "off",
        "cwd": str(tmp_path.resolve()),
    }
    assert getattr(report, name) == expected[name]
    assert (report.context_window, report.saved, report.sandbox) == (9, True, False)
