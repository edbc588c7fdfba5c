"""`/settings`, `/endpoint` and `/reload` in a real chat: shown first, written, in force, said."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.endpoint import serve, silence, text
from tests.support.terminal import ENTER, ESC, PtyTerminal, pty_terminal
from tests.ui.chat.test_repl import surroundings


@contextmanager
def chatting(tmp_path: Path, settings: str) -> Iterator[PtyTerminal]:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text(settings)
    env = {**surroundings(tmp_path), "AGENTSH_HOME": str(home)}
    argv = [sys.executable, "-m", "agentsh", "chat"]
    with pty_terminal(argv, env=env, cwd=tmp_path, rows=40, columns=120) as terminal:
        terminal.ready()
        terminal.wait(lambda: "thinking off" in terminal.screen)
        yield terminal


def submit(terminal: PtyTerminal, line: str) -> None:
    terminal.type(line)
    terminal.quiet()
    terminal.send(ENTER)


@pytest.mark.parametrize("agrees", [True, False])
def test_a_setting_is_found_shown_changed_and_in_force_after_agreement(
    tmp_path: Path, agrees: bool
) -> None:
    with serve(text("hello")) as endpoint:
        old = f'[endpoint]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\n# mine\n'
        file = tmp_path / "home" / "config.toml"
        with chatting(tmp_path, old) as terminal:
            submit(terminal, "/settings ui.stat")
            terminal.wait(lambda: "ui.status" in terminal.screen and "1 of" in terminal.screen)
            terminal.send(ENTER)
            terminal.wait("what the status line holds")
            terminal.wait(lambda: "Esc: as it is" in terminal.screen)
            submit(terminal, '["model", "thinking"]')
            terminal.wait('+ status = ["model", "thinking"]')
            terminal.wait(lambda: "write it? [y/N]" in terminal.screen)
            assert file.read_text() == old
            submit(terminal, "y" if agrees else "")
            if agrees:
                terminal.wait("read anew")
                terminal.wait(lambda: "m · thinking off" in terminal.screen)
            else:
                terminal.wait("nothing was written")
    added = '\n[ui]\nstatus = ["model", "thinking"]\n'
    assert file.read_text() == (old + added if agrees else old)


@pytest.mark.parametrize(
    ("keys", "told"),
    [("perhaps" + ENTER, "ui.bell must be true or false"), (ESC, "nothing was changed")],
)
def test_a_value_that_does_not_fit_and_esc_change_nothing(
    tmp_path: Path, keys: str, told: str
) -> None:
    with serve(text("hello")) as endpoint:
        old = f'[endpoint]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\n'
        with chatting(tmp_path, old) as terminal:
            submit(terminal, "/settings ui.bell")
            terminal.wait(lambda: "1 of" in terminal.screen)
            terminal.send(ENTER)
            terminal.wait(lambda: "Esc: as it is" in terminal.screen)
            terminal.send(keys)
            # the path of the file stands before it, and may be as long as a row
            terminal.wait(lambda: told in " ".join(terminal.everything.split()))
    assert (tmp_path / "home" / "config.toml").read_text() == old


def test_an_endpoint_is_added_by_questions_and_gets_the_next_prompt(tmp_path: Path) -> None:
    with serve(text("near")) as near, serve(text("hello"), text("from afar")) as far:
        old = f'[endpoint]\nbase_url = "{near.base_url}"\nmodel = "near-m"\n'
        with chatting(tmp_path, old) as terminal:
            submit(terminal, "/endpoint")
            for question, said in [
                ("address of the endpoint", far.base_url),
                ("prints it", ""),
                ("which model", ""),
                ("write it? [y/N]", "y"),
            ]:
                terminal.wait(question)
                terminal.wait(lambda: "near-m · thinking" in terminal.screen)
                submit(terminal, said)
            terminal.wait("answers from now on")
            terminal.quiet()
            submit(terminal, "go")
            terminal.wait("from afar")
    bodies: list[Any] = [request.body for request in far.requests if request.body]
    assert [body["model"] for body in bodies] == ["m", "m"]
    assert (tmp_path / "home" / "config.toml").read_text().startswith(f"{old}\n[endpoints.")


def test_reload_says_what_changed_and_keeps_what_was_chosen_here(tmp_path: Path) -> None:
    with serve(text("hello")) as endpoint:
        old = f'[endpoint]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\n'
        file = tmp_path / "home" / "config.toml"
        with chatting(tmp_path, old) as terminal:
            submit(terminal, "/thinking high")
            terminal.wait(lambda: "thinking high" in terminal.screen)
            file.write_text(f'{old}[approve]\npolicy = "ask"\n')
            (tmp_path / "AGENTS.md").write_text("count the herons")
            submit(terminal, "/reload")
            terminal.wait('approve.policy: - → "ask"')
            terminal.wait("AGENTS.md: sent from now on")
            terminal.wait(lambda: "thinking high" in terminal.screen.split("read anew")[-1])
            submit(terminal, "go")
            terminal.wait("hello")
            file.write_text("[ui\n")
            submit(terminal, "/reload")
            terminal.wait("error:")
            submit(terminal, "go on")
            terminal.wait(lambda: terminal.everything.count("hello") == 2)
    assert "count the herons" in str(endpoint.requests[-1].body)


def test_while_something_of_our_own_is_awaited_no_turn_is_said_to_hear_anything(
    tmp_path: Path,
) -> None:
    with serve(text("hello")) as endpoint:
        endpoint.listing = silence
        settings = f'[endpoint]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\n'
        with chatting(tmp_path, settings) as terminal:
            submit(terminal, "/model")
            terminal.wait(lambda: "what you say is sent when this is over" in terminal.screen)
            assert "hears that" not in terminal.screen


def test_a_key_that_is_given_for_a_variable_is_never_seen_and_stands_in_no_file(
    tmp_path: Path,
) -> None:
    key = "gsk_A1b2C3d4E5f6G7h8"
    with serve(text("hello")) as endpoint:
        settings = f'[endpoint]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\n'
        with chatting(tmp_path, settings) as terminal:
            submit(terminal, "/endpoint")
            terminal.wait("address of the endpoint")
            terminal.quiet()
            submit(terminal, endpoint.base_url)
            terminal.wait("variable or command")
            terminal.quiet()
            terminal.send(key)
            terminal.wait(lambda: "*" * len(key) in terminal.screen)
            terminal.send(ENTER)
            terminal.wait("that looks like a key")
            assert "(not shown)" in terminal.everything
            terminal.quiet()
            terminal.send(ESC)
            terminal.wait("nothing was set up")
            assert key.encode() not in terminal.raw
    files = [each for each in tmp_path.rglob("*") if each.is_file()]
    assert [each for each in files if key.encode() in each.read_bytes()] == []


def test_a_key_that_is_given_to_a_setting_for_a_variable_is_refused_and_never_seen(
    tmp_path: Path,
) -> None:
    key = "gsk_A1b2C3d4E5f6G7h8"
    settings = '[endpoint]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
    with chatting(tmp_path, settings) as terminal:
        submit(terminal, "/settings endpoint.api_key_env")
        terminal.wait(lambda: "1 of" in terminal.screen)
        terminal.send(ENTER)
        terminal.wait(lambda: "Esc: as it is" in terminal.screen)
        terminal.quiet()
        terminal.send(key)
        terminal.wait(lambda: "*" * len(key) in terminal.screen)
        terminal.send(ENTER)
        terminal.wait("this is none, and may be the key itself")
        assert key.encode() not in terminal.raw
    assert (tmp_path / "home" / "config.toml").read_text() == settings
