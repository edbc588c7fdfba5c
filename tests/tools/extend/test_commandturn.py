"""Hooks around a turn that are commands: what they are told, what their ends mean."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.settings import TurnTime
from agentsh.tools.extend.commandturn import TurnCommand
from agentsh.tools.extend.turnhooks import EndedTurn, HookAnswer, TurnHooks

DONE = EndedTurn("completed", "the answer", "0.5")


def hook(tmp_path: Path, when: TurnTime, command: str) -> TurnCommand:
    return TurnCommand(command, when, tmp_path, tmp_path, dict(os.environ), tmp_path / "outputs")


def until(is_so: Callable[[], bool], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while not is_so() and time.monotonic() < end:
        time.sleep(0.02)
    return is_so()


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ('echo "on $(cat "$AGENTSH_PROMPT_FILE")"', HookAnswer("on main")),
        ("true", HookAnswer("")),
        ("echo no; exit 3", HookAnswer("no", is_good=False)),
        ("exit 3", HookAnswer("exit code 3", is_good=False)),
        ("nosuchprogram 2>/dev/null", HookAnswer("exit code 127", is_good=False)),
    ],
)
def test_a_command_before_a_prompt_adds_or_refuses(
    tmp_path: Path, command: str, answer: HookAnswer
) -> None:
    assert hook(tmp_path, "before_prompt", command).before_prompt("main", Abort()) == answer
    assert list((tmp_path / "outputs").iterdir()) == []


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (
            'echo "$AGENTSH_STATUS $AGENTSH_COST $(cat "$AGENTSH_ANSWER_FILE")"',
            HookAnswer("completed 0.5 the answer"),
        ),
        ("echo fix it; exit 1", HookAnswer("fix it", is_good=False)),
        (
            "exit 1",
            HookAnswer("the command after_turn ended with exit code 1 and said nothing", False),
        ),
    ],
)
def test_a_command_after_a_turn_tells_or_asks(
    tmp_path: Path, command: str, answer: HookAnswer
) -> None:
    assert hook(tmp_path, "after_turn", command).after_turn(DONE, Abort(), None) == answer


def test_one_that_takes_too_long_after_a_turn_is_no_prompt(tmp_path: Path) -> None:
    answer = hook(tmp_path, "after_turn", "echo begun; sleep 60").after_turn(DONE, Abort(), 0.3)

    assert answer is not None
    assert answer.is_good
    assert "after_turn was ended" in answer.notices[0]


def test_a_stopped_one_before_a_prompt_refuses_it(tmp_path: Path) -> None:
    abort = Abort()
    abort.set()

    hooks = TurnHooks((("it", hook(tmp_path, "before_prompt", "sleep 60")),))

    answer = hooks.before_prompt("x", abort)

    assert (answer.is_good, answer.text) == (
        False,
        "it failed: stopped by the user; the command was not started",
    )


def test_a_command_has_one_time(tmp_path: Path) -> None:
    before = hook(tmp_path, "before_prompt", "touch ran")
    before.on_question("bash", {}, "x")

    assert before.after_turn(DONE, Abort(), None) is None
    assert not (tmp_path / "ran").exists()


def test_one_beside_a_question_holds_up_nothing_and_cleans_up(tmp_path: Path) -> None:
    command = (
        'echo "$AGENTSH_TOOL $AGENTSH_SHOWN $(cat "$AGENTSH_ARGUMENTS_FILE")" > asked; sleep 1'
    )
    began = time.monotonic()
    hook(tmp_path, "on_question", command).on_question("bash", {"command": "ls"}, "ls")

    assert time.monotonic() - began < 0.9
    assert until(lambda: (tmp_path / "asked").exists() and (tmp_path / "asked").read_text() != "")
    assert (tmp_path / "asked").read_text() == 'bash ls {"command":"ls"}\n'
    assert until(lambda: list((tmp_path / "outputs").iterdir()) == [])


def test_a_hook_that_breaks_refuses_a_prompt_and_is_named(tmp_path: Path) -> None:
    broken = replace(hook(tmp_path, "before_prompt", "true"), cwd=tmp_path / "nowhere")
    hooks = TurnHooks((("[hooks] before_prompt", broken),))

    answer = hooks.before_prompt("x", Abort())

    assert not answer.is_good
    assert answer.text.startswith("[hooks] before_prompt failed: ")


def test_the_texts_of_several_are_joined_and_the_first_refusal_decides(tmp_path: Path) -> None:
    def of(*commands: str) -> TurnHooks:
        return TurnHooks(tuple((c, hook(tmp_path, "before_prompt", c)) for c in commands))

    assert of("echo a", "true", "echo b").before_prompt("x", Abort()) == HookAnswer("a\nb")
    assert not of("echo a; exit 1", "touch ran").before_prompt("x", Abort()).is_good
    assert not (tmp_path / "ran").exists()
