"""A command that the person changes before it runs: asked, run, recorded and told as changed."""

from __future__ import annotations

from pathlib import Path

from agentsh.agent.events import Compacting, ToolStart
from agentsh.agent.turn.approvals import ApprovalAnswer
from agentsh.session.format.facts import ApprovalAsked, ToolStarted
from tests.agent.builders import facts, make_agent, path_of, results, run, start_session
from tests.agent.turn.test_approvals import Person, script
from tests.support.scripted import ScriptedProvider


def test_what_runs_is_recorded_and_told_is_the_changed_command(tmp_path: Path) -> None:
    person = Person(ApprovalAnswer("once", command="echo heron"))
    provider = ScriptedProvider(*script("rm -r nest"))
    agent = make_agent(start_session(tmp_path), provider, tmp_path, policy="edits", approver=person)

    events = run(agent)

    path = path_of(agent.session)
    (started,) = [f for f in facts(path) if isinstance(f, ToolStarted)]
    asked = [f.shown for f in facts(path) if isinstance(f, ApprovalAsked)]
    ((_, text, is_error),) = results(agent.session)
    assert asked == ["rm -r nest", "echo heron"]
    assert started.arguments == '{"command":"echo heron"}'
    assert text.startswith("(the user changed the command; this ran: echo heron)")
    assert (text.endswith(("heron\n", "heron")), is_error) == (True, False)
    assert [e.call.arguments for e in events if isinstance(e, ToolStart)] == [
        {"command": "echo heron"}
    ]


def test_always_after_a_change_covers_the_changed_command(tmp_path: Path) -> None:
    person = Person(ApprovalAnswer("session", command="echo heron"))
    provider = ScriptedProvider(*script("rm -r nest", "echo heron", "rm -r nest"))
    agent = make_agent(start_session(tmp_path), provider, tmp_path, policy="edits", approver=person)
    for _ in range(3):
        run(agent)

    assert person.shown == ["rm -r nest", "rm -r nest"]


def test_a_no_runs_nothing_whatever_was_written_with_it(tmp_path: Path) -> None:
    person = Person(ApprovalAnswer("no", command="touch nest"))
    provider = ScriptedProvider(*script("touch nest"))
    agent = make_agent(start_session(tmp_path), provider, tmp_path, policy="edits", approver=person)
    run(agent)

    assert not (tmp_path / "nest").exists()


def test_why_a_command_is_asked_about_is_said(tmp_path: Path) -> None:
    person = Person(ApprovalAnswer("no"))
    provider = ScriptedProvider(*script("ls && rm x"))
    agent = make_agent(start_session(tmp_path), provider, tmp_path, policy="edits", approver=person)
    run(agent)

    assert "it holds" in (person.asked[0].why or "")


def test_a_compaction_says_that_it_begins(tmp_path: Path) -> None:
    provider = ScriptedProvider(*["word " * 4000] * 3, "short")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    for _ in range(3):
        run(agent)
    events = list(agent.compact(keep=10))

    assert [(e.why, e.tokens > 0) for e in events if isinstance(e, Compacting)] == [(None, True)]
