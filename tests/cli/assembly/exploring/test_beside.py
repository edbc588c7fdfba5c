"""`/explore` of a chat: words as they were typed, a process beside it, a pick in front of it."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

import pytest

from agentsh.cli.assembly.exploring.beside import model_word, split_words, start_beside
from agentsh.errors import ExplorationError, UsageError
from tests.support.endpoint import Endpoint, Handler, calls, serve, text
from tests.support.exploring import REAL, environ, run
from tests.support.terminal import ENTER, PtyTerminal, pty_terminal


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("Make it pass.", ["--", "Make it pass."]),
        ('  -n 3  Don\'t "stop"  now ', ["-n", "3", "--", 'Don\'t "stop"  now']),
        ("--check 'pytest -q' --first go", ["--check", "pytest -q", "--first", "--", "go"]),
        ("--check='a b' go", ["--check=a b", "--", "go"]),
        ("-n 2 -- -v is wrong", ["-n", "2", "--", "-v is wrong"]),
        ("--tasks t.txt", ["--tasks", "t.txt"]),
    ],
)
def test_options_are_words_of_a_shell_and_the_prompt_stays_as_it_was(
    typed: str, words: list[str]
) -> None:
    assert split_words(typed) == words


@pytest.mark.parametrize("typed", ["--check 'a b", "-n"])
def test_what_is_no_word_is_said(typed: str) -> None:
    with pytest.raises(UsageError, match="/explore"):
        split_words(typed)


def test_a_model_is_asked_where_the_chat_asks_it() -> None:
    assert model_word("far", ("far", "near"), "m") == "far/m"
    assert model_word("openai-compatible", ("far",), "m") == "m"


def say(terminal: PtyTerminal, line: str) -> None:
    terminal.type(line)
    terminal.quiet()
    terminal.send(ENTER)


class TestBesideAChat:
    pytestmark = REAL

    def test_what_is_wrong_is_told_in_its_words(self, project: Path, endpoint: Endpoint) -> None:
        with pytest.raises(ExplorationError, match="--first needs a check"):
            start_beside(["--first", "--", "go"], project, environ(project, endpoint))
        assert endpoint.requests == []

    def test_one_is_begun_listed_and_picked_while_the_chat_stands(
        self, project: Path, endpoint: Endpoint
    ) -> None:
        argv = [sys.executable, "-m", "agentsh", "chat"]
        env = environ(project, endpoint)
        with pty_terminal(argv, env=env, cwd=project, rows=40, columns=120) as terminal:
            terminal.ready()
            say(terminal, "Hello.")
            terminal.wait("Created answer.txt")
            terminal.quiet()
            say(terminal, "/explore -n 2 Write a colour, don't ask.")
            terminal.wait("--follow` watches it")
            assert run(project, endpoint, "show", "--follow").returncode == 0
            value = json.loads(run(project, endpoint, "show", "--json").stdout)
            (project / "answer.txt").write_text("by hand\n")
            say(terminal, "/explore")
            terminal.wait(lambda: f"{value['exploration']}.1" in terminal.screen)
            terminal.send(ENTER)
            terminal.wait("--overwrite takes the branch's")
            assert (project / "answer.txt").read_text() == "by hand\n"
            say(terminal, "/explore pick 2 overwrite")
            terminal.wait("change: answer.txt")
            say(terminal, "More.")
            terminal.wait(lambda: "colour 4" in terminal.everything)
        assert (project / "answer.txt").read_text() == "colour 4\n"
        assert [row["prompt"] for row in value["branches"]] == ["Write a colour, don't ask."] * 2
        assert value["trunk"] is not None

    def test_one_is_begun_while_a_turn_runs(self, project: Path) -> None:
        release = threading.Event()

        def reply(handler: Handler) -> None:
            raw = handler.scripted.requests[-1].raw
            if b"slow" in raw and b"quick" not in raw and b'"tool"' in raw:
                release.wait(60)
            if b'"tool"' in raw:
                text("answered")(handler)
            else:
                calls(("c1", "write", {"path": "b.txt", "content": "b\n"}))(handler)

        with serve(reply) as endpoint:
            argv = [sys.executable, "-m", "agentsh", "chat"]
            env = environ(project, endpoint)
            with pty_terminal(argv, env=env, cwd=project, rows=40, columns=120) as terminal:
                terminal.ready()
                say(terminal, "be slow")
                terminal.wait(lambda: len(endpoint.requests) == 2)
                say(terminal, "/explore -n 1 quick")
                terminal.wait("--follow` watches it")
                release.set()
                terminal.wait("answered")
            assert run(project, endpoint, "show", "--follow").returncode == 0
