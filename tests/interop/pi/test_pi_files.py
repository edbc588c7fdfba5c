"""Files of Pi that agentsh went on with: Pi opens them again, reads the same, and goes on itself.

The samples lie beside the repository where there are any, with what Pi sent of each. What agentsh
sends of them is tests/context/test_pi_sessions.py's.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from agentsh.session.file.session import open_session
from tests.interop.pi.beside import differing_places, differing_trees
from tests.interop.pi.meaning import wire
from tests.interop.pi.peer import ask, look, needs_pi
from tests.interop.pi.shell import Shell
from tests.support.endpoint import serve, text

SAMPLES = Path(__file__).resolve().parents[4] / "shared" / "pi-sessions"
FILES = sorted(SAMPLES.glob("*.jsonl"))
# lines that are no entries, and a parent that is nowhere: Pi loses what stands before them,
# agentsh does not (docs/session-format.md, 7), so only the new part is compared
DAMAGED = ("edge-malformed", "edge-missing-parent")
pytestmark = [
    *needs_pi,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not FILES, reason="no samples of Pi's sessions beside the repository"),
]


def planted(sample: Path, shell: Shell) -> Path:
    """A copy whose recorded folder exists, which Pi wants; every other byte as it was."""
    path = shell.cwd.parent / sample.name
    lines = sample.read_bytes().split(b"\n")
    for i, line in enumerate(lines):
        mark = b"\xef\xbb\xbf" if line.startswith(b"\xef\xbb\xbf") else b""
        try:
            header = json.loads(line.removeprefix(mark))
        except ValueError:
            continue
        header["cwd"] = str(shell.cwd)
        end = b"\r" if line.endswith(b"\r") else b""
        lines[i] = mark + json.dumps(header, separators=(",", ":")).encode() + end
        break
    path.write_bytes(b"\n".join(lines))
    return path


@pytest.mark.parametrize("sample", FILES, ids=lambda p: p.stem)
def test_pi_opens_its_own_file_again_after_agentsh_went_on_with_it(
    sample: Path, tmp_path: Path
) -> None:
    damaged = sample.stem in DAMAGED
    with serve(text("AGENTSH ANSWERS"), text("PI ANSWERS"), text("AGENTSH AGAIN")) as endpoint:
        shell = Shell(tmp_path, endpoint)
        shell.path = planted(sample, shell)
        assert shell.ask("AND ON") == "AGENTSH ANSWERS\n"
        told, before = shell.model_view(), shell.path.read_bytes()

        copy = tmp_path / "copy.jsonl"
        shutil.copy(shell.path, copy)
        with open_session(shell.path, write=False) as session:
            ids = [*session.tree]
            places = ids[-1:] if damaged else ids[:: len(ids) // 40 + 1] + ids[-1:]
            [answer] = look([(copy, places)], tmp_path)
            if not damaged:
                assert [*differing_trees(session, answer)] == []
                assert [*differing_places(session, answer)] == []
        assert copy.read_bytes() == before
        assert answer["entries"][-1]["id"] == answer["leaf"]

        home = tmp_path / "pi"
        home.mkdir()
        words = ("--session", str(shell.path), "-p", "HI")
        assert ask(home, shell.cwd, endpoint.base_url, *words).strip() == "PI ANSWERS"
        sent = endpoint.bodies[-1]["messages"]
        assert isinstance(sent, list)
        count = 2 if damaged else len(wire(told))
        assert wire(sent)[-count - 1 :] == [*wire(told)[-count:], ("user", "HI", ())]
        assert shell.path.read_bytes().startswith(before)
        assert shell.ask("ON AND ON") == "AGENTSH AGAIN\n"
