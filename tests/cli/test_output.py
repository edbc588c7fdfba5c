"""Lines on stdout: in one row of a terminal each, and whole for a pipe."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from agentsh.cli.output import fitted
from tests.cli.program import agentsh, make_talk
from tests.support.terminal import pty_terminal

LONG = "the kestrel road " * 8 + "kestrel"


@pytest.mark.parametrize(
    ("line", "width", "shown"),
    [
        ("twelve chars", None, "twelve chars"),
        ("twelve chars", 12, "twelve chars"),
        ("twelve chars", 11, "twelve cha…"),
        ("漢漢漢漢漢漢", 12, "漢漢漢漢漢漢"),
        ("漢漢漢漢漢漢", 11, "漢漢漢漢漢…"),
        ("漢漢漢漢漢漢", 10, "漢漢漢漢…"),
        ("cafe\u0301 ole", 8, "cafe\u0301 ole"),
    ],
)
def test_a_line_is_cut_by_the_cells_that_it_takes(line: str, width: int | None, shown: str) -> None:
    assert fitted(line, width) == shown


@pytest.mark.parametrize("words", [("sessions",), ("search", "kestrel")])
def test_on_a_terminal_a_line_takes_one_row_and_in_a_pipe_it_is_whole(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    make_talk(tmp_path, LONG)
    piped = agentsh(*words, cwd=tmp_path).out.splitlines()
    argv = [sys.executable, "-m", "agentsh", *words]
    with pty_terminal(argv, env=dict(os.environ), cwd=tmp_path, columns=60) as terminal:
        assert terminal.ends() == 0
        rows = [line.rstrip() for line in terminal.screen.splitlines() if line.strip()]

    assert max(map(len, piped)) > 60
    assert len(rows) == len(piped)
    assert any(row.endswith("…") for row in rows)
    if words[0] == "search":
        assert all("kestrel" in row for row in rows[1::2])
