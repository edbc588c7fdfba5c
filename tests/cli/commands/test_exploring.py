"""`agentsh explore stop`: one branch, or all."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from tests.support.endpoint import Handler, serve, text
from tests.support.exploring import PROMPT, REAL, begin, repository, run

pytestmark = REAL


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "project")


def test_one_branch_is_stopped_and_the_others_go_on(project: Path) -> None:
    release = threading.Event()

    def reply(handler: Handler) -> None:
        release.wait(60)
        text("done")(handler)

    with serve(reply) as endpoint:
        running = begin(project, endpoint, "-n", "3", "-j", "2", PROMPT)
        until = time.monotonic() + 60
        while len(endpoint.requests) < 2:
            assert time.monotonic() < until
            time.sleep(0.05)

        assert run(project, endpoint, "stop", "last", "3").returncode == 0
        assert run(project, endpoint, "stop", "last", "1").returncode == 0
        second = run(project, endpoint, "stop", "last", "1")
        assert second.returncode == 4
        assert b"branch 1 has ended: it is aborted" in second.stderr
        assert run(project, endpoint, "stop", "last", "9").returncode == 3
        release.set()
        assert running.wait(60) == 1

        value = json.loads(run(project, endpoint, "show", "--json").stdout)
        assert [row["status"] for row in value["branches"]] == ["aborted", "completed", "aborted"]
        resumed = run(project, endpoint, "resume", "--output", "json")
        rows = json.loads(resumed.stdout)["branches"]
        assert [row["status"] for row in rows] == ["completed"] * 3
