"""Who decides about a call, what is remembered of it, where it holds, and what a crash leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.agent.events import MessageDone, Notice, ToolEnd
from agentsh.agent.grants import Grants
from agentsh.agent.turn.approvals import ApprovalAnswer, ApprovalRequest
from agentsh.session.file.session import open_session
from agentsh.session.format.facts import (
    ApprovalAsked,
    ApprovalDecided,
    StateSet,
    ToolStarted,
)
from agentsh.settings import Policy
from agentsh.tools.approval.rules import parse_rule
from agentsh.tools.shell.bash import BashTool
from tests.agent.builders import (
    ending,
    entry_of,
    facts,
    make_agent,
    path_of,
    reopen,
    results,
    run,
    start_session,
)
from tests.support.scripted import Call, ScriptedProvider, Step


class Person:
    """Answers as told, and remembers what was asked."""

    def __init__(self, *answers: ApprovalAnswer) -> None:
        self._answers = list(answers)
        self.asked: list[ApprovalRequest] = []

    def __call__(self, request: ApprovalRequest) -> ApprovalAnswer:
        self.asked.append(request)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    @property
    def shown(self) -> list[str]:
        return [request.shown for request in self.asked]


def bash(command: str, call_id: str = "c") -> tuple[Call, ...]:
    return (Call(call_id, "bash", {"command": command}),)


def script(*commands: str) -> list[Step]:
    """Each command in a turn of its own."""
    return [step for command in commands for step in (bash(command), "done")]


def test_once_holds_for_one_call(tmp_path: Path) -> None:
    person = Person(ApprovalAnswer("once"))
    provider = ScriptedProvider(*script("echo a", "echo a"))
    agent = make_agent(start_session(tmp_path), provider, tmp_path, policy="edits", approver=person)
    run(agent)
    run(agent)
    assert person.shown == ["echo a", "echo a"]


def test_a_start_names_the_decision_that_allowed_it(tmp_path: Path) -> None:
    provider = ScriptedProvider(*script("echo a"))
    agent = make_agent(
        start_session(tmp_path),
        provider,
        tmp_path,
        policy="edits",
        approver=Person(ApprovalAnswer("once")),
    )
    run(agent)
    path = path_of(agent.session)
    (start,) = [f for f in facts(path) if isinstance(f, ToolStarted)]
    assert start.approval == entry_of(path, ApprovalDecided)


@pytest.mark.parametrize(
    ("policy", "command", "policy_said", "rule"),
    [
        ("all", "printf stork", "all", None),
        ("edits", "printf heron", None, "printf heron"),
    ],
)
def test_what_is_let_through_unasked_says_by_which_policy_or_rule(
    policy: Policy, command: str, policy_said: str | None, rule: str | None, tmp_path: Path
) -> None:
    provider = ScriptedProvider(*script(command))
    rules = (parse_rule("printf heron"),)
    agent = make_agent(start_session(tmp_path), provider, tmp_path, policy=policy, rules=rules)
    run(agent)
    path = path_of(agent.session)
    (decided,) = [f for f in facts(path) if isinstance(f, ApprovalDecided)]
    assert (decided.by, decided.policy, decided.rule) == ("policy", policy_said, rule)
    (start,) = [f for f in facts(path) if isinstance(f, ToolStarted)]
    assert start.approval == entry_of(path, ApprovalDecided)


def test_reading_needs_no_decision(tmp_path: Path) -> None:
    provider = ScriptedProvider((Call("a", "ls", {}),), "done")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, policy="ask")
    run(agent)
    assert not any(isinstance(f, ApprovalDecided) for f in facts(path_of(agent.session)))


def test_no_is_a_result_with_the_reason_and_the_turn_goes_on(tmp_path: Path) -> None:
    person = Person(ApprovalAnswer("no", reason="too risky", rule="echo"))
    provider = ScriptedProvider(*script("echo a", "echo a"))
    agent = make_agent(start_session(tmp_path), provider, tmp_path, policy="edits", approver=person)
    assert ending(run(agent)).reason == "completed"
    ((_, text, is_error),) = results(agent.session)
    assert (text, is_error) == ("not approved by the user: too risky", True)
    run(agent)
    assert len(person.asked) == 2  # a rule that came with a no is none


def test_a_rule_covers_what_it_names(tmp_path: Path) -> None:
    person = Person(ApprovalAnswer("rule", rule="echo"))
    provider = ScriptedProvider(*script("echo a", "echo b", "printf x"))
    agent = make_agent(start_session(tmp_path), provider, tmp_path, policy="edits", approver=person)
    for _ in range(3):
        run(agent)
    assert person.shown == ["echo a", "printf x"]


@pytest.mark.parametrize(
    "command", ["make all && ls", "echo a > f", "echo $(date)", "for i in 1 2; do echo $i; done"]
)
def test_always_without_a_rule_covers_this_very_command_and_no_other(
    command: str, tmp_path: Path
) -> None:
    person = Person(ApprovalAnswer("session"))
    provider = ScriptedProvider(*script(command, command, command + " x"))
    agent = make_agent(start_session(tmp_path), provider, tmp_path, policy="edits", approver=person)
    for _ in range(3):
        run(agent)
    assert person.shown == [command, command + " x"]
    decided = [f for f in facts(path_of(agent.session)) if isinstance(f, ApprovalDecided)]
    assert decided[0].rule == f"= {command}"


def test_always_for_an_edit_covers_that_file_and_no_other(tmp_path: Path) -> None:
    cwd, other = tmp_path / "project", tmp_path / "other"
    cwd.mkdir()
    other.mkdir()
    person = Person(ApprovalAnswer("session"))
    writes = [
        (Call("c", "write", {"path": str(other / name), "content": str(i)}),)
        for i, name in enumerate(("a", "a", "b"))
    ]
    steps: list[Step] = [step for write in writes for step in (write, "done")]
    agent = make_agent(
        start_session(tmp_path), ScriptedProvider(*steps), cwd, policy="edits", approver=person
    )
    for _ in range(3):
        run(agent)
    assert person.shown == [f"write {other / 'a'}", f"write {other / 'b'}"]
    assert (other / "a").read_text() == "1"


def test_an_edit_is_asked_about_with_its_difference(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old line\n")
    person = Person(ApprovalAnswer("no"))
    edit = Call("c", "edit", {"path": "f", "oldText": "old", "newText": "new"})
    agent = make_agent(
        start_session(tmp_path),
        ScriptedProvider((edit,), "end"),
        tmp_path,
        policy="ask",
        approver=person,
    )
    run(agent)
    (request,) = person.asked
    assert request.diff is not None
    assert "new line" in request.diff


# ---- where it holds ------------------------------------------------------------------------------


def test_a_rule_holds_on_its_path_and_not_on_a_sibling(tmp_path: Path) -> None:
    person = Person(ApprovalAnswer("rule", rule="echo"))
    provider = ScriptedProvider("hello", *script("echo a", "echo b", "echo c"))
    session = start_session(tmp_path)
    agent = make_agent(session, provider, tmp_path, policy="edits", approver=person)
    run(agent)
    fork = session.leaf
    run(agent)
    granted = session.leaf
    assert agent.report().allowed == ("echo",)
    agent.checkout(fork)
    assert agent.report().allowed == ()
    run(agent)
    assert person.shown == ["echo a", "echo b"]
    agent.checkout(granted)
    run(agent)
    assert person.shown == ["echo a", "echo b"]


def test_a_rule_is_in_force_again_after_a_resume(tmp_path: Path) -> None:
    kept = tmp_path / "grants"
    with start_session(tmp_path) as session:
        provider = ScriptedProvider(*script("echo a"))
        person = Person(ApprovalAnswer("rule", rule="echo"))
        grants = Grants(kept, "/here")
        agent = make_agent(
            session, provider, tmp_path, policy="edits", approver=person, grants=grants
        )
        run(agent)
    for grants, ends in ((Grants(kept, "/here"), "completed"), (Grants(kept, "/there"), "blocked")):
        with reopen(tmp_path) as session:
            provider = ScriptedProvider(*script("echo b"))
            agent = make_agent(session, provider, tmp_path, policy="edits", grants=grants)
            assert ending(run(agent)).reason == ends


def test_a_rule_that_only_the_sessions_file_states_grants_nothing(tmp_path: Path) -> None:
    with start_session(tmp_path) as session:
        run(make_agent(session, ScriptedProvider("hello"), tmp_path))
        session.append(StateSet("approve.rules", ["echo", "@edit /"]))
    with reopen(tmp_path) as session:
        provider = ScriptedProvider(*script("echo b"))
        grants = Grants(tmp_path / "grants")
        agent = make_agent(session, provider, tmp_path, policy="edits", grants=grants)
        assert agent.report().allowed == ()
        assert ending(run(agent)).reason == "blocked"


def test_a_stored_rule_that_cannot_be_read_covers_nothing(tmp_path: Path) -> None:
    grants = Grants()
    grants.add("echo")
    with start_session(tmp_path) as session:
        run(make_agent(session, ScriptedProvider("hello"), tmp_path))
        session.append(StateSet("approve.rules", ["a && b", 3, "@edit relative", "echo"]))
    with reopen(tmp_path) as session:
        provider = ScriptedProvider(*script("echo b", "a"))
        agent = make_agent(session, provider, tmp_path, policy="edits", grants=grants)
        assert ending(run(agent)).reason == "completed"
        assert ending(run(agent)).reason == "blocked"


def test_a_rule_that_could_not_be_kept_holds_in_this_process_and_that_is_said(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")
    person = Person(ApprovalAnswer("rule", rule="echo"))
    agent = make_agent(
        start_session(tmp_path),
        ScriptedProvider(*script("echo a", "echo b")),
        tmp_path,
        policy="edits",
        approver=person,
        grants=Grants(tmp_path / "file" / "grants"),
    )
    said = [event.text for event in run(agent) if isinstance(event, Notice)]
    run(agent)
    assert ["could not be kept" in text for text in said] == [True]
    assert person.shown == ["echo a"]


def test_rules_of_the_options_need_no_person(tmp_path: Path) -> None:
    agent = make_agent(
        start_session(tmp_path),
        ScriptedProvider(*script("echo a")),
        tmp_path,
        policy="edits",
        rules=(parse_rule("echo"),),
    )
    assert ending(run(agent)).reason == "completed"


def test_never_refuses_and_asks_nobody(tmp_path: Path) -> None:
    person = Person(ApprovalAnswer("once"))
    agent = make_agent(
        start_session(tmp_path),
        ScriptedProvider(*script("echo a")),
        tmp_path,
        policy="never",
        approver=person,
    )
    assert ending(run(agent)).reason == "completed"
    assert person.asked == []
    assert results(agent.session)[0][2]


# ---- a crash while a person thinks ---------------------------------------------------------------


def test_asked_and_not_decided_after_a_crash_means_asked_again(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()

    def killed(request: ApprovalRequest) -> ApprovalAnswer:
        (copy / "session.jsonl").write_bytes((tmp_path / "session.jsonl").read_bytes())
        return ApprovalAnswer("once")

    provider = ScriptedProvider(*script("echo a"))
    run(make_agent(start_session(tmp_path), provider, tmp_path, policy="edits", approver=killed))

    with open_session(copy / "session.jsonl", write=False) as session:
        stated = facts(path_of(session))
        assert any(isinstance(f, ApprovalAsked) for f in stated)
        assert not any(isinstance(f, ApprovalDecided) for f in stated)
    with reopen(copy) as session:
        person = Person(ApprovalAnswer("once"))
        again = ScriptedProvider(*script("echo a"))
        events = run(make_agent(session, again, copy, policy="edits", approver=person))
        assert person.shown == ["echo a"]
        told = results(session)[0][1]
        assert "waited for an approval" in told
        assert [e.result.is_error for e in events if isinstance(e, ToolEnd)] == [False]
        assert any(isinstance(e, MessageDone) for e in events)


def test_nobody_there_is_asked_and_never_decided(tmp_path: Path) -> None:
    agent = make_agent(
        start_session(tmp_path),
        ScriptedProvider(*script("echo a")),
        tmp_path,
        policy="edits",
        tools=[BashTool()],
    )
    assert ending(run(agent)).reason == "blocked"
    stated = facts(path_of(agent.session))
    assert any(isinstance(f, ApprovalAsked) for f in stated)
    assert not any(isinstance(f, ApprovalDecided) for f in stated)
