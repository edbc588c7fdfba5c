from __future__ import annotations

import pytest

from agentsh.errors import InvalidArgumentsError
from agentsh.tools.approval.policy import Asked, CallFacts, decide
from agentsh.tools.base import Effect
from agentsh.tools.extend.commandtool import CommandSpec, CommandTool, parse_command_spec
from tests.support.tooling import Bench

TABLE = {"description": "Show a ticket.", "run": 'echo "[$AGENTSH_ARG_ID] $AGENTSH_ARGUMENTS"'}


def test_arguments_come_in_the_environment_and_never_in_the_command(bench: Bench) -> None:
    spec = parse_command_spec("ticket", {**TABLE, "parameters": {"id": "string", "n?": "integer"}})

    text = bench.text(CommandTool(spec), id="$(touch p); `touch p`\n'\"", n="3", more=1)

    assert text == '[$(touch p); `touch p`\n\'"] {"id":"$(touch p); `touch p`\\n\'\\"","n":3}'
    assert not (bench.cwd / "p").exists()


def test_its_schema_says_what_is_required(bench: Bench) -> None:
    tool = CommandTool(CommandSpec("t", "true", "D", parameters={"id": "string", "n?": "integer"}))

    assert tool.schema.parameters["required"] == ["id"]
    with pytest.raises(InvalidArgumentsError, match="id is missing"):
        bench.text(tool)


def test_a_command_that_fails_or_takes_too_long_is_an_error_result(bench: Bench) -> None:
    failed = bench.outcome(CommandTool(CommandSpec("t", "echo no; exit 3", "D")))
    late = bench.outcome(CommandTool(CommandSpec("t", "sleep 30", "D", timeout=0.2)))

    assert failed.is_error
    assert late.is_error


def test_it_is_asked_about_like_any_command_unless_it_only_reads(bench: Bench) -> None:
    tool = CommandTool(CommandSpec("deploy", "true", "D"))
    decision = decide("edits", CallFacts("deploy", tool.effect), cwd=bench.cwd)

    assert isinstance(decision, Asked)
    assert parse_command_spec("x", {**TABLE, "effect": "read"}).effect is Effect.READ


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"run": ""}, "run must be"),
        ({"description": 3}, "description must be"),
        ({"effect": "dance"}, "effect must be"),
        ({"parameters": {"a b": "string"}}, "parameters must"),
        ({"parameters": {"a": "blob"}}, "parameters must"),
        ({"timeout": "long"}, "timeout must"),
        ({"shell": "x"}, "shell: not known"),
    ],
)
def test_a_wrong_table_says_what_is_wrong(change: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_command_spec("ticket", {**TABLE, **change})
    with pytest.raises(ValueError, match="no name for a tool"):
        parse_command_spec("a-b", TABLE)
