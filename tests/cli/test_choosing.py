"""Which folder a continued session works in."""

from __future__ import annotations

import json
import os
from pathlib import Path

from agentsh.jsontext import JsonObject
from tests.cli.commands import agentsh, make_talk
from tests.cli.working import Project

ARGUMENTS: JsonObject = {"path": "made.txt", "content": "x"}
WRITE = (("c", "write", ARGUMENTS),)


def stranger(project: Project, tmp_path: Path) -> tuple[Path, Path]:
    """A file that somebody sent, and the folder of this machine that it names."""
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    header = {"type": "session", "version": 3, "id": "s1", "cwd": str(chosen)}
    header["timestamp"] = "2026-01-01T00:00:00.000Z"
    file = project.put("sent.jsonl", json.dumps(header) + "\n")
    return file, chosen


def test_a_file_that_somebody_sent_does_not_choose_the_folder(
    project: Project, tmp_path: Path
) -> None:
    file, chosen = stranger(project, tmp_path)

    with project.answering(WRITE):
        ended = project.run("--session", str(file), "go")

    assert (ended.code, list(chosen.iterdir())) == (0, [])
    assert (project.tree / "made.txt").read_text() == "x"
    assert f"its folder {chosen} is not entered: working in {project.tree}" in ended.err


def test_nor_does_its_fork(project: Project, tmp_path: Path) -> None:
    file, chosen = stranger(project, tmp_path)

    child = agentsh("fork", str(file), cwd=project.tree).out.strip()
    with project.answering(WRITE):
        first = project.run("--session", child, "go")
    with project.answering(WRITE):
        second = project.run("--fork", str(file), "go")

    assert (first.code, second.code, list(chosen.iterdir())) == (0, 0, [])


def test_ones_own_session_goes_on_in_its_folder_and_says_so(
    project: Project, tmp_path: Path
) -> None:
    talk = make_talk(project.tree, "one")

    with project.answering(WRITE):
        ended = agentsh("run", "-m", "m", "--session", talk.id, "go", cwd=tmp_path)

    assert (project.tree / "made.txt").read_text() == "x"
    assert f"working in the session's folder {project.tree}\n" in ended.err


def test_a_folder_whose_name_is_no_utf8_keeps_its_sessions(
    project: Project, tmp_path: Path
) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    odd.mkdir()

    with project.answering():
        first = agentsh("run", "-m", "m", "one", cwd=odd)
        second = agentsh("run", "-m", "m", "-c", "two", cwd=odd)

    assert (first.code, second.code, second.err) == (0, 0, "")
    rows = agentsh("sessions", "--json", cwd=odd).json()
    assert isinstance(rows, list)
    assert [row["messages"] for row in rows] == [4]
