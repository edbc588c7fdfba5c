"""Where there is no bubblewrap branches work in copies at paths of their own, and only there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.endpoint import Endpoint, Handler, calls, serve, text
from tests.support.exploring import PROMPT, environ, git

pytestmark = pytest.mark.slow


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Where all programs are but bubblewrap."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for folder in reversed(os.environ["PATH"].split(os.pathsep)):
        for program in Path(folder).glob("*"):
            link = programs / program.name
            if program.name != "bwrap":
                link.unlink(missing_ok=True)
                link.symlink_to(program)
    assert shutil.which("bwrap", path=str(programs)) is None
    return str(programs)


def explored(
    project: Path, endpoint: Endpoint, path: str, *words: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "agentsh", "explore", *words],
        cwd=project,
        env={**environ(project, endpoint), "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )


def test_the_folder_keeps_every_byte_and_what_names_it_is_refused(project: Path, path: str) -> None:
    (project / ".git" / "info" / "exclude").write_text("/lib\n")
    (project / "lib").mkdir()
    (project / "lib" / "a").write_text("shared")
    before = git(project, "status", "--porcelain")

    def reply(handler: Handler) -> None:
        messages = json.loads(handler.received.raw)["messages"]
        results = [each for each in messages if each["role"] == "tool"]
        steps = (
            calls(("c1", "bash", {"command": f"echo bad > {project}/bad.txt"})),
            calls(("c2", "write", {"path": f"{project}/worse.txt", "content": "bad\n"})),
            calls(("c3", "bash", {"command": "cat lib/a > good.txt && git add -A && git status"})),
            calls(("c4", "write", {"path": "more.txt", "content": "more\n"})),
            text("done"),
        )
        steps[len(results)](handler)

    with serve(reply) as endpoint:
        check = "test -f good.txt && test -f more.txt && git log --oneline"
        options = ("-n", "2", "--approve", "all", "--share", "lib", "--check", check)
        done = explored(project, endpoint, path, *options, "--output", "json", PROMPT)

        value = json.loads(done.stdout)
        assert done.returncode == 0, done.stdout
        assert b"paths of their own" in done.stderr
        paths = [[each["path"] for each in row["changed"]] for row in value["branches"]]
        assert paths == [["good.txt", "more.txt"]] * 2
        assert git(project, "status", "--porcelain") == before
        assert not (project / "bad.txt").exists()
        assert not (project / "worse.txt").exists()
        session = Path(value["branches"][0]["path"]).read_text()
        assert json.loads(session.splitlines()[0])["cwd"] == str(project)
        assert session.count("is the original, which must be left alone") == 2
        table = explored(project, endpoint, path, "show").stdout
        assert b"no bubblewrap" in table
        assert explored(project, endpoint, path, "pick", "1").returncode == 0
        assert (project / "good.txt").read_text() == "shared"


def test_one_that_stopped_goes_on_in_its_copy(project: Path, endpoint: Endpoint, path: str) -> None:
    stopped = explored(project, endpoint, path, "-n", "2", "--token-limit", "1", PROMPT)
    assert stopped.returncode == 6

    words = ("resume", "--token-limit", "1000000", "--output", "json")
    done = explored(project, endpoint, path, *words)

    rows = json.loads(done.stdout)["branches"]
    assert [row["status"] for row in rows] == ["completed"] * 2, [row["error"] for row in rows]
    assert [row["files"] for row in rows] == [1, 1]
    assert not (project / "answer.txt").exists()
