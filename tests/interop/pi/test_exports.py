"""What `export` writes for Pi: Pi opens it, sees the same at every entry, and goes on with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentsh.session.file.session import open_session
from tests.cli.program import agentsh
from tests.interop.pi.beside import differing_places, differing_trees
from tests.interop.pi.builders import ALL
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


def test_pi_reads_an_export_and_goes_on_with_it(shell: Shell, tmp_path: Path) -> None:
    to = tmp_path / "for-pi.jsonl"
    assert agentsh("export", str(shell.path), "--raw", "--to", str(to)).code == 0
    before = to.read_bytes()

    with open_session(to, write=False) as session:
        [answer] = look([(to, [*session.tree, None])], tmp_path)
        differing = [*differing_trees(session, answer), *differing_places(session, answer)]

    assert differing == []
    assert to.read_bytes() == before, "Pi found something to rewrite"
    facts = [line for line in before.split(b"\n") if line.startswith(b'{"type":"custom",')]
    assert not any(b"agentsh." in line for line in facts)  # a pick is Pi's own custom_message
    assert b'"ash"' not in before

    shell.serve(text("PI ANSWERS"))
    pi_home = tmp_path / "pi"
    pi_home.mkdir()
    said = ask(pi_home, shell.cwd, shell.endpoint.base_url, "--session", str(to), "-p", "HI")
    assert said.strip() == "PI ANSWERS"
    assert to.read_bytes().startswith(before)
