"""--on-interrupted, and the switch that rebuilds each request before it is sent (R54, R47)."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from agentsh.agent.agent import Agent
from agentsh.agent.events import TextPart
from agentsh.cli.lookup.interrupted import asker, may_go_on
from agentsh.session.file.session import open_session
from agentsh.session.health.verify import verify_file
from agentsh.ui.terminal import Terminal
from tests.agent.builders import make_agent, reopen, start_session
from tests.cli.program import Ended, agentsh
from tests.support.endpoint import Endpoint, serve, silence, text
from tests.support.scripted import ScriptedProvider
from tests.support.terminal import pty_terminal


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
    assert verify_file(path).problems == ()


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


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


def asked(typed: str) -> tuple[Callable[[str], bool] | None, Tty]:
    err = Tty()
    return asker(Terminal(Tty(typed), io.StringIO(), err)), err


@pytest.mark.parametrize(("typed", "goes_on"), [("y\n", True), ("\n", False), ("", False)])
def test_at_a_terminal_ask_is_a_question_whose_enter_is_no(
    typed: str, goes_on: bool, tmp_path: Path
) -> None:
    path = tmp_path / "session.jsonl"
    with start_session(tmp_path) as session:
        agent = make_agent(session, ScriptedProvider("hello"), tmp_path)
        for event in agent.prompt("finish the job"):
            if isinstance(event, TextPart):
                cut = path.read_bytes()
    path.write_bytes(cut)
    with reopen(tmp_path) as session:
        agent = make_agent(session, ScriptedProvider("hello"), tmp_path)
        ask, err = asked(typed)
        assert may_go_on(agent, "ask", ask) is goes_on
        assert err.getvalue() == "go on from there? [y/N] "
        assert may_go_on(agent, "ask", lambda _question: True)  # a chat's next prompt decides
        assert not may_go_on(agent, "stop", ask)


def test_without_a_terminal_there_is_nobody_to_ask() -> None:
    assert asker(Terminal(io.StringIO("y\n"), io.StringIO(), Tty())) is None


@pytest.mark.parametrize("command", ["run", "chat", "resume"])
def test_another_word_is_wrong_use(command: str, project: Path) -> None:
    ended = agentsh(command, "--on-interrupted", "panic", "x", cwd=project)
    assert ended.code == 2


def test_the_switch_stops_a_request_that_is_not_what_the_file_holds(
    project: Path, clean_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is altered behind the back of a program that runs."""
    from agentsh.cli.commands import run as run_module

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


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP])
def test_l31_a_chat_by_lines_that_is_told_to_end_ends_its_turn_in_the_log(
    sign: signal.Signals, project: Path, clean_environment: Path
) -> None:
    """At a real terminal, while the server is silent."""
    with serve(silence) as endpoint:
        environ = {**os.environ, "TERM": "dumb", "OPENAI_BASE_URL": endpoint.base_url}
        argv = [sys.executable, "-m", "agentsh", "-m", "m", "finish the job"]
        with pty_terminal(argv, env=environ, cwd=project) as terminal:
            terminal.wait(lambda: endpoint.requests)
            os.kill(terminal.process.pid, sign)

            assert terminal.ends() == 128 + sign
    path = session_file(clean_environment)
    end = json.loads(path.read_bytes().splitlines()[-1])
    assert (end["customType"], end["data"]["reason"]) == ("agentsh.turn", "aborted")
    assert agentsh("verify", "last", cwd=project).code == 0


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP])
def test_l31_a_chat_by_lines_that_waits_is_told_to_end(
    sign: signal.Signals, project: Path, clean_environment: Path
) -> None:
    environ = {**os.environ, "TERM": "dumb", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    argv = [sys.executable, "-m", "agentsh", "-m", "m"]
    with pty_terminal(argv, env=environ, cwd=project) as terminal:
        terminal.wait(">")
        os.kill(terminal.process.pid, sign)

        assert terminal.ends() == 128 + sign
        assert "Traceback" not in terminal.everything
