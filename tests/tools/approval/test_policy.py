from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentsh.settings import POLICIES, Policy
from agentsh.tools.approval.policy import (
    Allowed,
    Asked,
    CallFacts,
    Decision,
    Refused,
    decide,
    default_policy,
)
from agentsh.tools.approval.rules import parse_rule
from agentsh.tools.base import Effect

CWD = Path("/home/u/project")
INSIDE = (CWD / "src/a.py",)
OUTSIDE = (Path("/home/u/other/a.py"),)


def outcome(
    policy: Policy, effect: Effect, touched: tuple[Path, ...] = (), command: str | None = None
) -> type[Decision]:
    tool = "bash" if command else "write"
    return type(decide(policy, CallFacts(tool, effect, touched, command), cwd=CWD))


@pytest.mark.parametrize(
    ("policy", "reads", "edits", "elsewhere", "commands"),
    [
        ("never", Allowed, Refused, Refused, Refused),
        ("ask", Allowed, Asked, Asked, Asked),
        ("edits", Allowed, Allowed, Asked, Asked),
        ("all", Allowed, Allowed, Allowed, Allowed),
    ],
)
def test_the_table_of_the_policies(
    policy: Policy,
    reads: type[Decision],
    edits: type[Decision],
    elsewhere: type[Decision],
    commands: type[Decision],
) -> None:
    assert outcome(policy, Effect.READ, OUTSIDE) is reads
    assert outcome(policy, Effect.WRITE, INSIDE) is edits
    assert outcome(policy, Effect.WRITE, OUTSIDE) is elsewhere
    assert outcome(policy, Effect.WRITE, (*INSIDE, *OUTSIDE)) is elsewhere
    assert outcome(policy, Effect.WRITE, ()) is elsewhere
    assert outcome(policy, Effect.EXEC, command="touch p") is commands
    assert outcome(policy, Effect.UNKNOWN) is commands


def test_a_name_that_only_begins_like_the_folder_is_outside() -> None:
    assert outcome("edits", Effect.WRITE, (Path("/home/u/project-x/a"),)) is Asked


def bash(command: str, *rules: str, policy: Policy = "edits") -> Decision:
    call = CallFacts("bash", Effect.EXEC, command=command)
    return decide(policy, call, [parse_rule(rule) for rule in rules], cwd=CWD)


def test_a_rule_answers_for_the_person_but_never_lifts_a_refusal() -> None:
    assert bash("git status -s", "git status") == Allowed(rule="git status")
    asked = bash("git status; x", "git status")
    assert asked == Asked("git status; x", "= git status; x", "it holds a chain (;)")
    assert isinstance(bash("git status", "git status", policy="never"), Refused)


def test_rules_name_shell_commands_and_no_other_tools_arguments() -> None:
    shown = '{"to":"production"}'
    call = CallFacts("deploy", Effect.EXEC, command="git status", shown=shown)

    assert decide("edits", call, [parse_rule("git status")], cwd=CWD) == Asked(
        'deploy {"to":"production"} git status'
    )


def test_a_path_rule_lets_that_file_be_edited() -> None:
    rules = [parse_rule(f"@edit {OUTSIDE[0]}")]

    def edit(path: Path) -> Decision:
        return decide("ask", CallFacts("edit", Effect.WRITE, (path,)), rules, cwd=CWD)

    assert edit(OUTSIDE[0]) == Allowed(rule=f"@edit {OUTSIDE[0]}")
    assert edit(INSIDE[0]) == Asked(f"edit {INSIDE[0]}", f"@edit {INSIDE[0]}")


@pytest.mark.parametrize("policy", POLICIES)
def test_in_the_sandbox_nothing_is_written_outside_of_the_folder(policy: Policy) -> None:
    call = CallFacts("write", Effect.WRITE, OUTSIDE)

    assert isinstance(decide(policy, call, cwd=CWD, sandboxed=True), Refused)


def test_the_default_is_edits_and_all_in_the_sandbox() -> None:
    assert default_policy(sandboxed=False) == "edits"
    assert default_policy(sandboxed=True) == "all"


@pytest.mark.parametrize("sandboxed", [False, True])
def test_in_the_home_everything_asks_by_default(sandboxed: bool) -> None:
    assert default_policy(sandboxed=sandboxed, wide=True) == "ask"


def test_the_option_names_each_policy_and_no_other() -> None:
    page = (Path(__file__).parents[3] / "docs" / "cli.md").read_text("utf-8")
    told = {line.split("POLICY")[1] for line in page.split("\n") if "--approve POLICY" in line}

    assert {tuple(re.findall(r"(?!default|or)\b\w+", words)) for words in told} == {POLICIES}
