"""Plain words mean the same with and without typer, and what is not plain is left to typer."""

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

from agentsh.cli.options import taking
from agentsh.cli.plain import LISTING, values
from agentsh.cli.program import build
from tests.cli.commands import agentsh, make_talk

WORDS = [option.word for option in LISTING]


def typers(words: list[str]) -> dict[str, Any] | None:
    """What typer makes of the words; None where it says that they are wrong, or does else."""
    seen: list[dict[str, Any]] = []

    def command(**given: Any) -> None:
        seen.append(given)

    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command()(taking(LISTING, command))
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), suppress(SystemExit):
        app(args=words, prog_name="x")
    return seen[0] if seen else None


WORD = st.sampled_from([*WORDS, "red", "", "-", "--", "-h", "--tag=red", "--al", "path", "ä\udcff"])


@given(st.lists(WORD, max_size=5))
def test_what_is_read_without_typer_is_what_typer_reads(words: list[str]) -> None:
    plainly = values(LISTING, words)

    if plainly is not None:
        assert plainly == typers(words)


@pytest.mark.parametrize(
    "words",
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
def test_anything_else_is_left_to_typer(words: list[str]) -> None:
    assert values(LISTING, words) is None


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
