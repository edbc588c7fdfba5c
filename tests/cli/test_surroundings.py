"""What a command stands on: streams that the caller closed or filled, a folder that went away."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import make_talk
from tests.cli.working import Project

FULL = Path("/dev/full")


def shell(
    project: Project, words: str, *, unbuffered: str = ""
) -> subprocess.CompletedProcess[str]:
    """A line of shell in the project; `agentsh` is this one."""
    program = f'agentsh() {{ {shlex.quote(sys.executable)} -m agentsh "$@"; }}; '
    environ = {**os.environ, "AGENTSH_HOME": str(project.home), "PYTHONUNBUFFERED": unbuffered}
    return subprocess.run(
        ["sh", "-c", program + words],
        cwd=project.tree,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["config", "show last", "--help"])
def test_results_that_cannot_be_written_are_no_bug_and_no_success(
    project: Project, command: str, unbuffered: str
) -> None:
    make_talk(project.tree, "one")

    ended = shell(project, f"agentsh {command} > /dev/full", unbuffered=unbuffered)

    assert (ended.returncode, ended.stderr) == (
        1,
        "agentsh: the output cannot be written: No space left on device\n",
    )


@pytest.mark.parametrize("command", ["config", "show last", "--help", "verify last"])
def test_a_closed_stdout_is_said(project: Project, command: str) -> None:
    make_talk(project.tree, "one")

    ended = shell(project, f"agentsh {command} >&-")

    assert (ended.returncode, ended.stderr) == (
        1,
        "agentsh: the output cannot be written: Bad file descriptor\n",
    )


def test_no_file_takes_the_number_of_a_closed_stream(project: Project) -> None:
    talk = make_talk(project.tree, "one")
    before = talk.path.read_bytes()

    renamed = shell(project, "agentsh rename last heron <&- >&- 2>&-; echo $?")
    shown = shell(project, "agentsh show last <&- 2>&-")

    assert (renamed.stdout, shown.returncode) == ("0\n", 0)
    assert "> one" in shown.stdout
    added = talk.path.read_bytes().removeprefix(before)
    assert [line[:1] for line in added.splitlines()] == [b"{"] * added.count(b"\n")


def test_a_prompt_from_a_closed_stdin_is_none(project: Project) -> None:
    ended = shell(project, "agentsh run -m m --base-url http://127.0.0.1:9/v1 - <&-")

    assert (ended.returncode, ended.stderr) == (2, "agentsh: there is no prompt\n")


@pytest.mark.parametrize("command", ["sessions", "show last", "config", "run hi", "doctor"])
def test_a_folder_that_is_gone_is_said(project: Project, command: str) -> None:
    ended = shell(project, f"mkdir away && cd away && rmdir ../away && agentsh {command}")

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        "agentsh: the folder that this was started in is gone\n  cd to one that is there\n"
    )


def test_a_session_that_cannot_be_saved_says_what_helps(project: Project) -> None:
    project.home.parent.mkdir(exist_ok=True)
    project.home.write_text("in the way")

    with project.answering():
        ended = project.run("hi")

    assert (ended.code, ended.out) == (1, "")
    assert "was not written: Not a directory" in ended.err
    assert "keep sessions elsewhere: --session-dir, AGENTSH_HOME" in ended.err


def test_all_folders_of_ours_are_private_from_the_first_turn(project: Project) -> None:
    home = project.home / "not" / "yet"
    project.monkeypatch.setenv("AGENTSH_HOME", str(home))
    with project.answering():
        assert project.run("hello").code == 0
    made = [home, *(path for path in home.rglob("*") if path.is_dir())]
    assert {path: oct(path.stat().st_mode & 0o777) for path in made} == dict.fromkeys(made, "0o700")
