"""`agentsh resume` of a branch's session goes on in that branch's workspace."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.endpoint import Endpoint, Handler, calls, serve, text
from tests.support.exploring import PROMPT, REAL, agentsh, environ, run

pytestmark = REAL


def talked(
    project: Path, endpoint: Endpoint, *words: str, said: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "agentsh", *words],
        cwd=project.parent,
        env=environ(project, endpoint),
        input=said.encode(),
        capture_output=True,
        timeout=120,
        check=False,
    )


def reply(handler: Handler) -> None:
    """Each prompt appends a line to a file, and is answered."""
    messages = json.loads(handler.scripted.requests[-1].raw)["messages"]
    if messages[-1]["role"] == "tool":
        text("done")(handler)
    else:
        calls(("c1", "bash", {"command": "echo more >> answer.txt; pwd"}))(handler)


@pytest.mark.parametrize("keep", [(), ("--keep",)])
def test_its_files_are_those_of_its_workspace_and_what_came_of_it_is_on_record(
    project: Path, keep: tuple[str, ...]
) -> None:
    with serve(reply) as endpoint:
        started = run(
            project, endpoint, "-n", "2", "--approve", "all", *keep, "--output", "json", PROMPT
        )
        value = json.loads(started.stdout)
        session = value["branches"][0]["session"]

        went_on = talked(project, endpoint, "resume", session, "--approve", "all", said="again")

        assert went_on.returncode == 0, went_on.stderr
        assert b"in the workspace of branch" in went_on.stderr
        assert not (project / "answer.txt").exists()
        assert run(project, endpoint, "diff", "1").stdout.count(b"+more") == 2
        assert run(project, endpoint, "diff", "2").stdout.count(b"+more") == 1
        [first, second] = json.loads(run(project, endpoint, "show", "--json").stdout)["branches"]
        assert (first["steps"], second["steps"]) == (4, 2)
        left = [Path(path) for path in (project.parent / "home").rglob("work")]
        assert len(left) == (2 if keep else 0)
        assert run(project, endpoint, "pick", "1").returncode == 0
        assert (project / "answer.txt").read_text() == "more\nmore\n"


def test_elsewhere_it_is_refused_with_the_way_to_go_on(project: Path, endpoint: Endpoint) -> None:
    value = json.loads(run(project, endpoint, "-n", "1", "--output", "json", PROMPT).stdout)
    session = value["branches"][0]["session"]
    asked = len(endpoint.requests)

    refused = agentsh(project, endpoint, "run", "--session", session, "more")

    assert refused.returncode == 4
    assert b"is the session of a branch" in refused.stderr
    assert b"agentsh resume" in refused.stderr
    assert len(endpoint.requests) == asked
    project.rename(project.parent / "moved")
    project.mkdir()
    project.rmdir()
    gone = talked(project, endpoint, "resume", session, said="more")
    assert gone.returncode == 4
    assert b"is gone" in gone.stderr
