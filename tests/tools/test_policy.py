from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.tools.base import Effect
from agentsh.tools.policy import (
    POLICIES,
    Allowed,
    Asked,
    Decision,
    Policy,
    Refused,
    decide,
    default_policy,
)
from agentsh.tools.rules import parse_rule

CWD = Path("/home/u/project")
INSIDE = (CWD / "src/a.py",)
OUTSIDE = (Path("/home/u/other/a.py"),)


def outcome(
    policy: Policy, effect: Effect, touched: tuple[Path, ...] = (), command: str | None = None
) -> type[Decision]:
    tool = "bash" if command else "write"
    return type(decide(policy, tool=tool, effect=effect, touched=touched, cwd=CWD, command=command))


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
    return decide(
        policy,
        tool="bash",
        effect=Effect.EXEC,
        touched=(),
        cwd=CWD,
        command=command,
        rules=[parse_rule(rule) for rule in rules],
    )


def test_a_rule_answers_for_the_person_but_never_lifts_a_refusal() -> None:
    assert bash("git status -s", "git status") == Allowed()
    asked = bash("git status; x", "git status")
    assert asked == Asked("git status; x", "= git status; x", "it holds a chain (;)")
    assert isinstance(bash("git status", "git status", policy="never"), Refused)


def test_rules_name_shell_commands_and_no_other_tools_arguments() -> None:
    decision = decide(
        "edits",
        tool="deploy",
        effect=Effect.EXEC,
        touched=(),
        cwd=CWD,
        command="git status",
        rules=[parse_rule("git status")],
        shown='{"to":"production"}',
    )

    assert decision == Asked('deploy {"to":"production"} git status')


def test_a_path_rule_lets_that_file_be_edited() -> None:
    rules = [parse_rule(f"@edit {OUTSIDE[0]}")]

    def edit(path: Path) -> Decision:
        return decide(
            "ask", tool="edit", effect=Effect.WRITE, touched=(path,), cwd=CWD, rules=rules
        )

    assert edit(OUTSIDE[0]) == Allowed()
    assert edit(INSIDE[0]) == Asked(f"edit {INSIDE[0]}", f"@edit {INSIDE[0]}")


@pytest.mark.parametrize("policy", POLICIES)
def test_in_the_sandbox_nothing_is_written_outside_of_the_folder(policy: Policy) -> None:
    decision = decide(
        policy, tool="write", effect=Effect.WRITE, touched=OUTSIDE, cwd=CWD, sandboxed=True
    )

    assert isinstance(decision, Refused)


def test_the_default_is_edits_and_all_in_the_sandbox() -> None:
    assert default_policy(sandboxed=False) == "edits"
    assert default_policy(sandboxed=True) == "all"
