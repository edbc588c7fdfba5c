"""Files that agentsh wrote: Pi opens them, reads the same of them, goes on, and gives them back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentsh.session.file.session import open_session
from tests.interop.pi.beside import differing_places, differing_trees
from tests.interop.pi.builders import ALL
from tests.interop.pi.meaning import wire
from tests.interop.pi.peer import ask, look, needs_pi
from tests.interop.pi.shell import Shell
from tests.support.endpoint import serve, text

pytestmark = [*needs_pi, pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(params=ALL)
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shell]:
    """A session of each kind, just made."""
    with serve(text("unused")) as endpoint:
        shell = Shell(tmp_path, endpoint)
        ALL[request.param](shell)
        yield shell


def read_by_both(path: Path, folder: Path) -> list[str]:
    """What differs at any entry of a file."""
    copy = folder / "copy.jsonl"
    shutil.copy(path, copy)
    before = copy.read_bytes()
    with open_session(path, write=False) as session:
        [answer] = look([(copy, [*session.tree, None])], folder)
        assert copy.read_bytes() == before, "Pi found something to rewrite"
        assert len(answer["contexts"]) == len(session.tree) + 1
        return [*differing_trees(session, answer), *differing_places(session, answer)]


def test_pi_reads_what_agentsh_wrote_goes_on_and_gives_it_back(
    shell: Shell, tmp_path: Path
) -> None:
    """All of it for one session, as making one takes seconds."""
    assert read_by_both(shell.path, tmp_path) == []
    shell.run("verify", str(shell.path))
    shell.run("replay", str(shell.path), "--check")

    # Pi goes on, and is told what agentsh would have told
    told = shell.model_view()
    before = shell.path.read_bytes()
    shell.serve(text("PI ANSWERS"))
    pi_home = tmp_path / "pi"
    pi_home.mkdir()
    said = ask(
        pi_home, shell.cwd, shell.endpoint.base_url, "--session", str(shell.path), "-p", "HI"
    )
    assert said.strip() == "PI ANSWERS"
    sent = shell.endpoint.bodies[-1]["messages"]
    assert isinstance(sent, list)
    assert wire(sent) == [*wire(told), ("user", "HI", ())]
    assert shell.path.read_bytes().startswith(before)
    assert read_by_both(shell.path, tmp_path) == []

    # and agentsh goes on with what Pi left
    told, between = shell.model_view(), shell.path.read_bytes()
    shell.serve(text("AGENTSH ANSWERS"))
    shell.run("verify", str(shell.path))
    assert shell.ask("AND ON") == "AGENTSH ANSWERS\n"
    sent = shell.endpoint.bodies[-1]["messages"]
    assert isinstance(sent, list)
    assert wire(sent) == [*wire(told), ("user", "AND ON", ())]
    assert wire(told)[-2:] == [("user", "HI", ()), ("assistant", "PI ANSWERS", ())]
    assert shell.path.read_bytes().startswith(between)
    assert read_by_both(shell.path, tmp_path) == []
    shell.run("verify", str(shell.path))
    shell.run("replay", str(shell.path), "--check")
