"""`agentsh resume` where a person types: the session that is named, or picked; or none."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.program import make_talk
from tests.support.endpoint import serve, text
from tests.support.terminal import CTRL_D, DOWN, ENTER, ESC, PtyTerminal, pty_terminal


@contextmanager
def resumed(cwd: Path, *words: str, **more: str) -> Iterator[PtyTerminal]:
    argv = [sys.executable, "-m", "agentsh", "resume", "-m", "m", *words]
    with pty_terminal(argv, env={**os.environ, **more}, cwd=cwd) as terminal:
        yield terminal


def leave(terminal: PtyTerminal) -> None:
    terminal.quiet()
    terminal.send(CTRL_D)
    assert terminal.ends() == 0, terminal.everything


def test_a_session_that_is_named_is_gone_on_with_from_its_leaf(tmp_path: Path) -> None:
    talk = make_talk(tmp_path, "herons")
    make_talk(tmp_path, "storks")
    with serve(text("well")) as endpoint:
        with resumed(tmp_path, talk.id, OPENAI_BASE_URL=endpoint.base_url) as terminal:
            terminal.wait("answer to herons")
            terminal.ready()
            terminal.type("go on")
            terminal.send(ENTER)
            terminal.wait("well")
            leave(terminal)
        sent = endpoint.requests[0].raw
    assert b"herons" in sent
    assert b"storks" not in sent


def test_without_a_word_a_session_of_the_folder_is_picked(tmp_path: Path) -> None:
    make_talk(tmp_path, "herons")
    make_talk(tmp_path, "storks")
    with resumed(tmp_path, OPENAI_BASE_URL="http://127.0.0.1:9/v1") as terminal:
        terminal.wait(lambda: "sessions of this folder" in terminal.screen)
        assert "herons" in terminal.screen
        terminal.send(DOWN)
        terminal.quiet()
        terminal.send(ENTER)
        terminal.wait("answer to herons")
        terminal.ready()
        leave(terminal)


def test_one_who_picks_none_is_in_no_chat(tmp_path: Path) -> None:
    make_talk(tmp_path, "herons")
    with resumed(tmp_path, OPENAI_BASE_URL="http://127.0.0.1:9/v1") as terminal:
        terminal.wait(lambda: "sessions of this folder" in terminal.screen)
        terminal.send(ESC)
        assert terminal.ends() == 0
        assert "answer to herons" not in terminal.everything


def test_without_a_session_there_is_nothing_to_resume(tmp_path: Path) -> None:
    with resumed(tmp_path, OPENAI_BASE_URL="http://127.0.0.1:9/v1") as terminal:
        assert terminal.ends() == 3
        assert "there is no session of" in terminal.everything


def test_on_a_dumb_terminal_it_is_the_last_session_in_plain_lines(tmp_path: Path) -> None:
    make_talk(tmp_path, "herons")
    make_talk(tmp_path, "storks")
    env = {"TERM": "dumb", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    with resumed(tmp_path, **env) as terminal:
        terminal.wait(lambda: ">" in terminal.screen)
        terminal.wait("storks")
        assert "herons" not in terminal.everything
        leave(terminal)
