"""Forks across both programs: each opens the child that the other made of its file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentsh.session.file.session import open_session
from tests.interop.pi.beside import differing_places, differing_trees
from tests.interop.pi.builders import ALL
from tests.interop.pi.meaning import wire
from tests.interop.pi.peer import ask, branched, look, needs_pi
from tests.interop.pi.shell import Shell
from tests.support.endpoint import serve, text

pytestmark = [*needs_pi, pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(params=["branches", "tools", "compaction_twice", "killed_tool"])
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shell]:
    with serve(text("unused")) as endpoint:
        shell = Shell(tmp_path, endpoint)
        ALL[request.param](shell)
        yield shell


def goes_on(shell: Shell, folder: Path) -> None:
    """agentsh takes the file at `shell.path` on, and both still read the same of it."""
    told, before = shell.model_view(), shell.path.read_bytes()
    shell.serve(text("AGENTSH ANSWERS"))
    assert shell.ask("AND ON") == "AGENTSH ANSWERS\n"
    sent = shell.endpoint.bodies[-1]["messages"]
    assert isinstance(sent, list)
    assert wire(sent) == [*wire(told), ("user", "AND ON", ())]
    assert shell.path.read_bytes().startswith(before)
    shell.run("verify", str(shell.path))
    with open_session(shell.path, write=False) as session:
        [answer] = look([(shell.path, [*session.tree])], folder)
        assert [*differing_trees(session, answer), *differing_places(session, answer)] == []


def test_agentsh_goes_on_with_a_whole_copy_that_pi_made(shell: Shell, tmp_path: Path) -> None:
    told, parent = shell.model_view(), shell.path
    home = tmp_path / "pi"
    home.mkdir()
    shell.serve(text("PI ANSWERS"))
    ask(home, shell.cwd, shell.endpoint.base_url, "--fork", str(parent), "-p", "HI")
    [shell.path] = (home / ".pi" / "agent" / "sessions").rglob("*.jsonl")

    assert json.loads(shell.path.read_bytes().split(b"\n")[0])["parentSession"] == str(parent)
    assert wire(shell.model_view())[: len(told)] == wire(told)
    goes_on(shell, tmp_path)


def test_agentsh_goes_on_with_a_path_that_pi_took_out(shell: Shell, tmp_path: Path) -> None:
    told = shell.model_view()
    shell.path = branched(shell.path, tmp_path)

    assert wire(shell.model_view()) == wire(told)
    goes_on(shell, tmp_path)


def test_agentsh_forks_what_pi_went_on_with_and_pi_opens_it(shell: Shell, tmp_path: Path) -> None:
    home = tmp_path / "pi"
    home.mkdir()
    shell.serve(text("PI ANSWERS"))
    words = ("--session", str(shell.path), "-p", "HI")
    ask(home, shell.cwd, shell.endpoint.base_url, *words)
    told, parent = shell.model_view(), shell.path
    shell.run("fork", str(parent))
    shell.path = shell.newest()

    assert shell.path != parent
    assert wire(shell.model_view()) == wire(told)
    goes_on(shell, tmp_path)
