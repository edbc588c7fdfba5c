"""`agentsh setup` at a terminal: what it adds is shown first, and what stood there stays."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.program import agentsh
from tests.support.endpoint import serve, text
from tests.support.terminal import ENTER, pty_terminal
from tests.ui.chat.test_repl import surroundings

OLD = "[ui]\nbell = false  # mine\n"


@pytest.mark.parametrize("agreed", [True, False])
def test_an_endpoint_is_tried_shown_and_added_when_agreed_to(tmp_path: Path, agreed: bool) -> None:
    file = tmp_path / "home" / "config.toml"
    file.parent.mkdir()
    file.write_text(OLD)
    env = {**surroundings(tmp_path), "AGENTSH_HOME": str(file.parent)}
    with serve(text("hello")) as endpoint:
        argv = [sys.executable, "-m", "agentsh", "setup"]
        with pty_terminal(argv, env=env, cwd=tmp_path) as terminal:
            terminal.wait("address of the endpoint")
            terminal.send(endpoint.base_url + ENTER)
            terminal.wait("prints it")
            terminal.send(ENTER)
            terminal.wait("which model")
            terminal.send(ENTER)
            terminal.wait("m says: hello")
            terminal.wait("Add it? [y/N]")
            assert file.read_text() == OLD
            terminal.send(("y" if agreed else "") + ENTER)
            assert terminal.ends() == 0

    added = f'\n[endpoint]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\n'
    assert file.read_text() == (OLD + added if agreed else OLD)


def test_without_a_terminal_it_says_what_to_write() -> None:
    done = agentsh("setup")

    assert done.code == 2
    assert "agentsh help settings" in done.err
