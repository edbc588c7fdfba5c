"""64 branches, killed on the way with those who run them: nothing is lost, nothing told twice."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.support.endpoint import Endpoint, Handler, serve, text
from tests.support.exploring import REAL, begin, repository, run

pytestmark = REAL
CROWD, AT_ONCE = 64, 8


def reply(handler: Handler) -> None:
    """Each task is answered with its own word, after a moment in which it may be killed."""
    time.sleep(0.15)
    text(f"answer {task_of(handler.received.raw)}")(handler)


def task_of(raw: bytes) -> str:
    numbers = re.findall(rb"task ([0-9]+)\.", raw)
    return numbers[-1].decode() if numbers else "none"


def wait_for(endpoint: Endpoint, count: int, running: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 120
    while len(endpoint.requests) < count and running.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.02)


def rows_of(project: Path, endpoint: Endpoint) -> list[dict[str, object]]:
    shown = run(project, endpoint, "show", "--json")
    value = json.loads(shown.stdout)
    assert isinstance(value["branches"], list)
    return value["branches"]


def kill_a_branch(project: Path, endpoint: Endpoint) -> int:
    """One that is at work, by its process; how many were killed."""
    for row in rows_of(project, endpoint):
        process = row["process"]
        if isinstance(process, dict):
            try:
                os.kill(int(process["pid"]), signal.SIGKILL)
            except ProcessLookupError:
                continue  # it has just ended
            return 1
    return 0


@pytest.mark.timeout(400)
def test_killed_branches_and_killed_coordinators_lose_and_double_nothing(tmp_path: Path) -> None:
    project = repository(tmp_path / "project")
    tasks = tmp_path / "tasks.txt"
    tasks.write_text("".join(f"task {n}.\n" for n in range(CROWD)))
    limits = ("-j", str(AT_ONCE), "--retries", "9")
    with serve(reply) as endpoint:
        running = begin(project, endpoint, "--tasks", str(tasks), *limits)
        killed = 0
        for count in (12, 26, 40):
            wait_for(endpoint, count, running)
            killed += kill_a_branch(project, endpoint)
            wait_for(endpoint, count + 4, running)
            running.send_signal(signal.SIGKILL)
            running.wait()
            running = begin(project, endpoint, "resume", *limits)
        assert running.wait(240) == 0

        rows = rows_of(project, endpoint)
        asked = Counter(task_of(request.raw) for request in endpoint.requests)
        again = run(project, endpoint, "resume")

    assert again.returncode == 0
    assert sum(asked.values()) == len(endpoint.requests)  # the second resume asked nothing
    assert [row["status"] for row in rows] == ["completed"] * CROWD
    assert [row["text"] for row in rows] == [f"answer {n}" for n in range(CROWD)]
    assert len({row["session"] for row in rows}) == CROWD
    # what was under way at a kill may be asked once more, and nothing else
    doubled = sum(count - 1 for count in asked.values())
    assert set(asked) == {str(n) for n in range(CROWD)}
    assert doubled <= 3 * AT_ONCE + killed
    for row in rows:
        lines = [json.loads(line) for line in Path(str(row["path"])).read_text().splitlines()]
        said = [line["message"] for line in lines if line.get("type") == "message"]
        answers = [each for each in said if each["role"] == "assistant" and each["content"]]
        assert len(answers) <= int(str(row["tries"]))
