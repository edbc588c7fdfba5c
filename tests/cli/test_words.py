"""Words that are read without typer mean what typer makes of them; all others are left to it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from agentsh.cli import chat as chatting
from agentsh.cli import compact as compacting
from agentsh.cli import run as running
from agentsh.cli.app import TALKING
from agentsh.cli.options import add
from agentsh.cli.program import COMMANDS as HOMES
from agentsh.cli.talking import COMMANDS
from agentsh.cli.words import Option, read, taken

WORDS = sorted(
    {
        word
        for command, options in COMMANDS.values()
        for _, annotation, _ in taken(command, options)
        if isinstance(option := annotation.__metadata__[0], Option)
        for word in option.words
    }
)
OTHERS = ["hi there", "3", "0", "1.5", "007", "1_0", "-1", "nan", "1e3", "٣", "", "-", "--", "-h"]
MORE = ["--model=x", "-mx", "-cm", "--mod", "last", "é\udcff", "12345678901234567890", "."]
words = st.lists(st.sampled_from([*WORDS, *OTHERS, *MORE]), max_size=6)


@contextmanager
def recorded() -> Iterator[list[tuple[Any, ...]]]:
    """What the commands were called with, instead of doing it."""
    seen: list[tuple[Any, ...]] = []

    def record(*args: Any, **given: Any) -> int:
        seen.append((args, given))
        return 0

    with pytest.MonkeyPatch.context() as patch:
        for module, name in (
            (running, "start"),
            (chatting, "chat"),
            (chatting, "resume"),
            (compacting, "compact"),
        ):
            patch.setattr(module, name, record)
        yield seen


@given(st.sampled_from(sorted(COMMANDS)), words)
def test_what_is_read_without_typer_is_what_typer_reads(name: str, given_words: list[str]) -> None:
    command, options = COMMANDS[name]
    plainly = read(command, options, given_words)
    if plainly is None:
        return
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    add(app, command, options=options)
    with recorded() as seen:
        command(**plainly)
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), suppress(SystemExit):
            app(args=given_words, prog_name="x")
    assert len(seen) == 2, "typer refuses these words"
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    "plain",
    [
        ["hi"],
        ["-"],
        ["--approve", "all", "hi"],
        ["-c", "-m", "some/model", "--max-steps", "3", "hi there"],
        ["hi", "--attach", "a.py", "-a", "b.py", "--allow", "git status", "--idle-timeout", "1.5"],
    ],
)
def test_usual_words_need_no_typer(plain: list[str]) -> None:
    command, options = COMMANDS["run"]
    assert read(command, options, plain) is not None


@pytest.mark.parametrize(
    "odd",
    [
        [],
        ["hi", "there"],
        ["--help"],
        ["hi", "--model=x"],
        ["hi", "--max-steps", "0"],
        ["hi", "--max-steps", "1.5"],
        ["hi", "--idle-timeout", "nan"],
        ["hi", "--idle-timeout", "-1"],
        ["hi", "--session"],
        ["hi", "--session", "-c"],
        ["--", "-hi"],
        ["-hi"],
    ],
)
def test_what_may_mean_something_else_is_left_to_typer(odd: list[str]) -> None:
    command, options = COMMANDS["run"]
    assert read(command, options, odd) is None


def test_lists_are_not_shared_between_two_readings() -> None:
    command, options = COMMANDS["run"]
    first = read(command, options, ["hi", "-a", "x"])
    assert first is not None
    assert first["attach"] == ["x"]
    second = read(command, options, ["hi"])
    assert second is not None
    assert second["attach"] == []


def test_the_commands_that_are_read_so_are_those_that_talk() -> None:
    assert set(TALKING) == set(COMMANDS)
    assert set(COMMANDS) == {name for name, home in HOMES.items() if home == "talking"}
