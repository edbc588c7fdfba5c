"""`[session] title`: off by default; with it, lists show what the model called a session."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.cli.program import Ended, agentsh
from tests.support.endpoint import serve, silence, status, text
from tests.support.terminal import CTRL_D, ENTER, ESC, pty_terminal


@pytest.fixture
def wanted(clean_environment: Path) -> None:
    folder = clean_environment / "agentsh"
    folder.mkdir(mode=0o700)
    (folder / "config.toml").write_text("[session]\ntitle = true\n")


def rows(cwd: Path) -> list[dict[str, object]]:
    found = agentsh("sessions", "--json", cwd=cwd).json()
    assert isinstance(found, list)
    return found


def run(base_url: str, cwd: Path, *words: str) -> Ended:
    return agentsh("run", "--base-url", base_url, "-m", "m", *words, "hello", cwd=cwd)


def test_by_default_nobody_is_asked(tmp_path: Path) -> None:
    with serve(text("hi"), text("A title")) as endpoint:
        run(endpoint.base_url, tmp_path)
        assert len(endpoint.requests) == 1

    assert [(row["name"], row["title"]) for row in rows(tmp_path)] == [(None, None)]


@pytest.mark.usefixtures("wanted")
def test_a_run_is_given_a_title_that_the_own_name_replaces(tmp_path: Path) -> None:
    with serve(text("hi"), text('"Herons \x1b[31mof the lake."')) as endpoint:
        ended = run(endpoint.base_url, tmp_path)
        assert (ended.code, ended.out) == (0, "hi\n")
        run(endpoint.base_url, tmp_path, "-c")
        assert len(endpoint.requests) == 3

    (row,) = rows(tmp_path)
    assert row["name"] == row["title"] == "Herons [31mof the lake"
    assert row["title"] in agentsh("sessions", cwd=tmp_path).out
    assert agentsh("replay", "last", "--check", cwd=tmp_path).code == 0
    assert agentsh("verify", "last", cwd=tmp_path).code == 0
    agentsh("rename", "last", "mine", cwd=tmp_path)
    (row,) = rows(tmp_path)
    assert (row["name"], row["title"]) == ("mine", None)
    agentsh("sessions", "archive", "last", cwd=tmp_path)
    (row,) = agentsh("sessions", "--archived", "--json", cwd=tmp_path).json()  # type: ignore[misc]
    assert (row["name"], row["title"]) == ("mine", None)


@pytest.mark.usefixtures("wanted")
def test_a_title_that_fails_is_one_line_and_the_run_is_well(tmp_path: Path) -> None:
    with serve(text("hi"), status(500, "broken")) as endpoint:
        ended = run(endpoint.base_url, tmp_path)
        assert len(endpoint.requests) == 2

    assert (ended.code, ended.out) == (0, "hi\n")
    assert ended.err.count("no title") == 1


@pytest.mark.usefixtures("wanted")
def test_its_setting_is_shown_with_its_place(clean_environment: Path) -> None:
    value = agentsh("config", "--json").json()
    assert isinstance(value, dict)
    assert value["settings"]["session.title"] == {
        "value": True,
        "source": f"{clean_environment}/agentsh/config.toml:2",
    }


@pytest.mark.usefixtures("wanted")
@pytest.mark.parametrize("way", ["next prompt", "esc"])
def test_in_a_chat_a_title_that_takes_its_time_holds_nobody_up(way: str, tmp_path: Path) -> None:
    env = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    with serve(text("first answer"), silence, text("second answer"), text("Herons")) as endpoint:
        argv = [sys.executable, "-m", "agentsh", "chat", "--base-url", endpoint.base_url, "-m", "m"]
        with pty_terminal(argv, env=env, cwd=tmp_path) as terminal:
            terminal.ready()
            terminal.type("one")
            terminal.send(ENTER)
            terminal.wait(lambda: len(endpoint.requests) == 2)  # the title's is unanswered
            terminal.wait("first answer")
            if way == "esc":
                terminal.send(ESC)
                terminal.quiet()
            terminal.type("two")
            terminal.send(ENTER)
            terminal.wait("second answer", 10)
            terminal.quiet()
            assert "no title" not in terminal.everything
            terminal.send(CTRL_D)
            assert terminal.ends() == 0
    shown = agentsh("show", "last", "--view", "chat", "--json", cwd=tmp_path).json()
    assert isinstance(shown, dict)
    assert [m["text"] for m in shown["messages"] if m["role"] == "user"] == ["one", "two"]
    assert agentsh("replay", "last", "--check", cwd=tmp_path).code == 0
