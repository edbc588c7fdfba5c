"""Words that are read without typer mean what typer makes of them; all others are left to it."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout, suppress
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from agentsh.cli.parsing.program import (
    COMMANDS,
    OF_SESSIONS,
    WITHOUT_TYPER,
    find_command,
    find_subcommand,
)
from agentsh.cli.parsing.words import Option, read_words, taken
from agentsh.cli.typer_app import as_typer_takes, build
from tests.cli.program import agentsh, make_talk

WORDS = sorted(
    {
        word
        for name in WITHOUT_TYPER
        for one in taken(find_command(name))
        if isinstance(one.declared, Option)
        for word in one.declared.words
    }
)
OTHERS = ["hi there", "3", "0", "1.5", "007", "1_0", "-1", "nan", "1e3", "٣", "", "-", "--", "-h"]
MORE = ["--model=x", "-mx", "-cm", "--mod", "last", "é\udcff", "12345678901234567890", "."]
words = st.lists(st.sampled_from([*WORDS, *OTHERS, *MORE]), max_size=6)


def typers(name: str, given_words: list[str]) -> dict[str, Any] | None:
    """What typer makes of the words; None where it says that they are wrong, or does else."""
    seen: list[dict[str, Any]] = []
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command()(as_typer_takes(find_command(name), lambda _ctx, values: seen.append(values)))
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), suppress(SystemExit):
        app(args=given_words, prog_name="x")
    return seen[0] if seen else None


@given(st.sampled_from(WITHOUT_TYPER), words)
def test_what_is_read_without_typer_is_what_typer_reads(name: str, given_words: list[str]) -> None:
    plainly = read_words(find_command(name), given_words)

    if plainly is not None:
        assert plainly == typers(name, given_words)


LISTING = ["--all", "--archived", "--tag", "red", "--json", "--session-dir", "ä\udcff", "-", "--al"]


@given(st.lists(st.sampled_from(LISTING), max_size=5))
def test_a_list_of_sessions_is_asked_for_alike(given_words: list[str]) -> None:
    plainly = read_words(find_command("sessions"), given_words)

    if plainly is not None:
        assert plainly == typers("sessions", given_words)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_lies_where_its_name_says_and_says_what_it_does(name: str) -> None:
    assert find_command(name).__doc__
    assert [one.name for one in taken(find_command(name)) if not one.declared.help] == []


@pytest.mark.parametrize("name", OF_SESSIONS)
def test_a_command_below_sessions_lies_where_the_table_says(name: str) -> None:
    assert find_subcommand("sessions", name).__name__ == name
    assert find_subcommand("sessions", name).__doc__


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
    command = find_command("run")
    assert read_words(command, plain) is not None


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
    command = find_command("run")
    assert read_words(command, odd) is None


def test_lists_are_not_shared_between_two_readings() -> None:
    command = find_command("run")
    first = read_words(command, ["hi", "-a", "x"])
    assert first is not None
    assert first["attach"] == ["x"]
    second = read_words(command, ["hi"])
    assert second is not None
    assert second["attach"] == []


@pytest.mark.parametrize(
    "odd",
    [
        ["--help"],
        ["--nope"],
        ["--tag"],
        ["--tag=red"],
        ["--tag", "--all"],
        ["--session-dir", "-"],
        ["--", "--all"],
        ["path", "last"],
        ["--all", "rm"],
        ["--ALL"],
        [""],
    ],
)
def test_what_is_not_a_list_of_sessions_is_left_to_typer(odd: list[str]) -> None:
    assert read_words(find_command("sessions"), odd) is None


def by_typer(words: list[str]) -> tuple[bytes, str, object]:
    raw, err = io.BytesIO(), io.StringIO()
    code: object = None
    out = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
    with redirect_stdout(out), redirect_stderr(err):
        try:
            build(words)(args=words, prog_name="agentsh")
        except SystemExit as e:
            code = e.code
    return raw.getvalue(), err.getvalue(), code


def combined(folder: Path) -> list[list[str]]:
    """Every choice of the options, each with a value that there is."""
    each = [["--all"], ["--archived"], ["--tag", "red"], ["--json"], ["--session-dir", str(folder)]]
    chosen = [c for count in range(len(each) + 1) for c in combinations(each, count)]
    return [["sessions", *(word for words in choice for word in words)] for choice in chosen]


def test_either_way_prints_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clean_environment: Path
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    make_talk(here, "first  with\tblanks")
    tagged, packed = make_talk(here, "second \x1b[31mred", "more"), make_talk(here, "packed")
    make_talk(there, "x" * 100)
    agentsh("sessions", "tag", tagged.id, "red")
    agentsh("sessions", "pin", tagged.id)
    agentsh("sessions", "archive", packed.id)
    monkeypatch.chdir(here)

    store = clean_environment / "agentsh/sessions"
    for words in [*combined(store), *combined(tmp_path / "nowhere")]:
        quick = agentsh(*words)
        assert (quick.out.encode(), quick.err, quick.code) == by_typer(words), words
    index = clean_environment / "agentsh/index.sqlite"
    for words in combined(store):
        known = agentsh(*words)
        index.unlink(missing_ok=True)
        assert agentsh(*words) == known, words
