"""The endpoint that the status line names gets the prompt, in a real pseudo-terminal (Q01, Q08)."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.endpoint import serve, silence, text
from tests.support.terminal import CTRL_C, ENTER, ESC, pty_terminal
from tests.ui.chat.test_repl import surroundings

SHIFT_TAB = "\x1b[Z"


def test_q01_another_endpoint_is_shown_when_it_is_in_force_and_answers(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    with serve(text("near")) as near, serve(text("from afar")) as far:
        (home / "config.toml").write_text(
            f'[endpoint]\nbase_url = "{near.base_url}"\nmodel = "m"\n'
            f'[endpoints.far]\nbase_url = "{far.base_url}"\nmodel = "m"\n'
            '[ui]\nstatus = ["thinking", "model"]\n'
        )
        env = {**surroundings(tmp_path), "AGENTSH_HOME": str(home)}
        argv = [sys.executable, "-m", "agentsh", "chat"]
        with pty_terminal(argv, env=env, cwd=tmp_path) as terminal:
            terminal.ready()
            terminal.wait(lambda: "thinking off · m" in terminal.screen)
            terminal.send(SHIFT_TAB)
            terminal.wait(lambda: "thinking minimal · m" in terminal.screen)
            assert "from the next prompt on" not in terminal.everything
            terminal.type("/model far/odd")
            terminal.send(ENTER)
            terminal.wait("model: far/odd, from the next prompt on")
            terminal.wait(lambda: "thinking minimal · far/odd" in terminal.screen)
            terminal.quiet()
            terminal.type("go")
            terminal.send(ENTER)
            terminal.wait("from afar")
    bodies: list[Any] = [request.body for request in far.requests]
    assert ([body["model"] for body in bodies], near.requests) == (["odd"], [])


@pytest.mark.parametrize("plain", [(), ("--plain",)])
def test_a_resumed_chat_begins_with_what_is_in_force_as_it_was(
    tmp_path: Path, plain: tuple[str, ...]
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    with serve() as near, serve(text("from afar")) as far:
        (home / "config.toml").write_text(
            f'[endpoint]\nbase_url = "{near.base_url}"\nmodel = "m"\n'
            f'[endpoints.far]\nbase_url = "{far.base_url}"\nmodel = "m"\n'
        )
        env = {**surroundings(tmp_path), "AGENTSH_HOME": str(home)}
        program = [sys.executable, "-m", "agentsh"]
        said = ["run", "-m", "far/odd", "--thinking", "high", "go"]
        subprocess.run([*program, *said], env=env, cwd=tmp_path, check=True)
        with pty_terminal([*program, "chat", "-c", *plain], env=env, cwd=tmp_path) as terminal:
            terminal.wait("from afar")
            terminal.quiet()
            first = terminal.everything.split("from afar")[0]
            assert "as it was here: model far/odd, thinking high" in first
            assert first.count("as it was here") == 1


def test_esc_stops_the_wait_for_a_list_of_models_and_nothing_that_comes_afterwards(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    with serve(text("hello")) as near, socket.create_server(("127.0.0.1", 0)) as slow:
        (home / "config.toml").write_text(
            f'[endpoint]\nbase_url = "{near.base_url}"\nmodel = "m"\n'
            f'[endpoints.slow]\nbase_url = "http://127.0.0.1:{slow.getsockname()[1]}/v1"\n'
        )
        env = {**surroundings(tmp_path), "AGENTSH_HOME": str(home)}
        argv = [sys.executable, "-m", "agentsh", "chat"]
        with pty_terminal(argv, env=env, cwd=tmp_path) as terminal:
            terminal.ready()
            terminal.wait(lambda: "thinking off" in terminal.screen)
            terminal.type("/model")
            terminal.quiet()
            terminal.send(ENTER)
            asked, _ = slow.accept()
            terminal.wait(lambda: "waiting for the lists of models" in terminal.screen)
            terminal.send(ESC)
            terminal.wait("slow: not waited for")
            terminal.wait("stopped; /model ID takes any name")
            asked.close()
            terminal.type("go")
            terminal.send(ENTER)
            terminal.wait("hello")


def test_a_compaction_that_asks_how_much_a_model_holds_says_so_and_is_stopped_at_once(
    tmp_path: Path,
) -> None:
    with serve(text("one"), text("two")) as endpoint:
        env = {**surroundings(tmp_path), "OPENAI_BASE_URL": endpoint.base_url}
        program = [sys.executable, "-m", "agentsh"]
        for said in (["x " * 5000], ["-c", "go"]):
            subprocess.run([*program, "run", "-m", "m", *said], env=env, cwd=tmp_path, check=True)
        endpoint.listing = silence
        with pty_terminal([*program, "chat", "-c"], env=env, cwd=tmp_path) as terminal:
            terminal.ready()
            terminal.type("/compact --keep 10")
            terminal.send(ENTER)
            terminal.wait("is asked how much m holds")
            terminal.send(ESC)
            terminal.wait("the compaction was stopped", 5)
        assert len(endpoint.requests) == 2


def test_a_command_that_waits_for_lists_of_models_says_so_and_ends_at_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    with serve(text("hello")) as near, serve(text("hello")) as slow:
        slow.listing = silence
        (home / "config.toml").write_text(
            f'[endpoint]\nbase_url = "{near.base_url}"\n'
            f'[endpoints.slow]\nbase_url = "{slow.base_url}"\n'
        )
        env = {**surroundings(tmp_path), "AGENTSH_HOME": str(home)}
        argv = [sys.executable, "-m", "agentsh", "models"]
        with pty_terminal(argv, env=env, cwd=tmp_path) as terminal:
            terminal.wait("waiting for the lists of models")
            terminal.send(CTRL_C)
            assert terminal.ends(5) == 130
