"""--on-interrupted, and the switch that rebuilds each request before it is sent (R54, R47)."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from agentsh.agent.agent import Agent
from agentsh.session.session import open_session
from agentsh.session.verify import scan
from tests.cli.commands import Ended, agentsh
from tests.support.endpoint import Endpoint, serve, text


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def run(endpoint: Endpoint, cwd: Path, *words: str) -> Ended:
    return agentsh("run", "--base-url", endpoint.base_url, "-m", "m", *words, cwd=cwd)


def session_file(home: Path) -> Path:
    (path,) = (home / "agentsh").rglob("*.jsonl")
    return path


def cut_off(endpoint: Endpoint, cwd: Path, home: Path) -> Path:
    """A session whose last turn was killed after its prompt."""
    assert run(endpoint, cwd, "finish the job").code == 0
    path = session_file(home)
    lines = path.read_bytes().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if b'"agentsh.request"' in line)
    path.write_bytes(b"".join(lines[: at + 1]))
    return path


@pytest.mark.parametrize("way", [(), ("--on-interrupted", "continue")])
def test_a_run_says_what_was_cut_off_and_goes_on(
    way: tuple[str, ...], project: Path, clean_environment: Path
) -> None:
    with serve(text("well")) as endpoint:
        path = cut_off(endpoint, project, clean_environment)
        ended = run(endpoint, project, "-c", *way, "go on")
    assert (ended.code, ended.out) == (0, "well\n")
    assert "interrupted: finish the job" in ended.err
    assert len(endpoint.requests) == 2
    assert scan(path).problems == ()


@pytest.mark.parametrize("way", ["stop", "ask"])
def test_stop_sends_nothing_and_writes_nothing_as_ask_does_with_nobody_there(
    way: str, project: Path, clean_environment: Path
) -> None:
    with serve(text("well")) as endpoint:
        path = cut_off(endpoint, project, clean_environment)
        before = path.read_bytes()
        ended = run(endpoint, project, "-c", "--on-interrupted", way, "go on")
    assert (ended.code, ended.out) == (6, "")
    assert "--on-interrupted continue" in ended.err
    assert len(endpoint.requests) == 1
    assert path.read_bytes() == before


def test_a_session_that_ended_well_is_not_asked_about(
    project: Path, clean_environment: Path
) -> None:
    with serve(text("well")) as endpoint:
        run(endpoint, project, "one")
        ended = run(endpoint, project, "-c", "--on-interrupted", "stop", "two")
    assert ended.code == 0
    assert "interrupted" not in ended.err


@pytest.mark.parametrize("command", ["run", "chat", "resume"])
def test_another_word_is_wrong_use(command: str, project: Path) -> None:
    ended = agentsh(command, "--on-interrupted", "panic", "x", cwd=project)
    assert ended.code == 2


def test_the_switch_stops_a_request_that_is_not_what_the_file_holds(
    project: Path, clean_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is altered behind the back of a program that runs."""
    from agentsh.cli import run as run_module

    path: list[Path] = []

    def altering(agent: Agent) -> AbstractContextManager[list[int]]:
        file = session_file(clean_environment)
        data = file.read_bytes()
        file.write_bytes(data.replace(b'"text":"one"', b'"text":"One"', 1))
        path.append(file)
        return original(agent)

    with serve(text("well")) as endpoint:
        assert run(endpoint, project, "one").code == 0
        original = run_module.stopping
        monkeypatch.setattr(run_module, "stopping", altering)
        ended = run(endpoint, project, "-c", "two")
        assert ended.code == 70
        assert len(endpoint.requests) == 1
        monkeypatch.delenv("AGENTSH_DEBUG_REPLAY")
        assert run(endpoint, project, "-c", "three").code == 0
    assert os.environ.get("AGENTSH_DEBUG_REPLAY") is None
    with open_session(path[0], write=False) as session:
        assert session.leaf is not None
