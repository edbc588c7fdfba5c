"""A disk takes no more: what cannot be kept stops the exploration, and a resume asks nothing again.

The small disk is a file system in memory that a mount namespace of its own sees.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.endpoint import Endpoint, Handler, calls, serve, text
from tests.support.exploring import PROMPT, REAL, environ, repository

pytestmark = REAL
SIZE, FILLED, WRITTEN = 40_000_000, 34_000_000, 9_000_000


def with_bytes(handler: Handler) -> None:
    """Writes what no store makes smaller, then ends."""
    body = json.loads(handler.scripted.requests[-1].raw)
    if any(message["role"] == "tool" for message in body["messages"]):
        text("done")(handler)
    else:
        command = f"head -c {WRITTEN} /dev/urandom > made.bin"
        calls(("c1", "bash", {"command": command}))(handler)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve(with_bytes) as made:
        yield made


def on_small_disk(folder: Path, endpoint: Endpoint, place: Path, script: str) -> list[str]:
    """What a script prints for which `place` is that disk, filled up by `place`/filler."""
    place.mkdir(parents=True)
    filled = f"head -c {FILLED} /dev/zero > {place}/filler\n"
    agentsh = f'agentsh() {{ {sys.executable} -P -m agentsh "$@"; }}\n'
    done = subprocess.run(
        ["bwrap", "--dev-bind", "/", "/", "--size", str(SIZE), "--tmpfs", str(place),
         "--", "bash", "-c", filled + agentsh + script],
        cwd=folder, env=environ(folder, endpoint), capture_output=True, text=True, timeout=100,
        check=False,
    )  # fmt: skip
    return [*done.stdout.splitlines(), done.stderr]


def statuses(line: str) -> list[str]:
    value: Any = json.loads(line)
    return [value["status"], *(row["status"] for row in value["branches"])]


def test_a_full_store_stops_the_exploration_and_a_resume_captures(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    folder = repository(tmp_path / "project")
    home = tmp_path / "home"
    (tmp_path / "workspaces").mkdir()
    home.mkdir()
    (home / "config.toml").write_text(f'[explore]\nworkspaces = "{tmp_path}/workspaces"\n')
    script = f"""
        agentsh explore --approve all -n 3 -j 1 --output json "{PROMPT}"; echo $?
        rm {home}/explore/filler
        agentsh explore resume --output json; echo $?
    """

    full, code, resumed, end, said = on_small_disk(folder, endpoint, home / "explore", script)

    assert code == "1", said
    assert statuses(full) == ["stopped", "running", "queued", "queued"]
    assert "No space left on device; `agentsh explore resume" in said
    assert (statuses(resumed), end) == (["ended", *["completed"] * 3], "0"), said
    assert len(endpoint.requests) == 6  # two for each, and none twice
    assert json.loads(resumed)["branches"][0]["changed"] == [{"path": "made.bin", "kind": "create"}]


def test_a_full_disk_of_workspaces_fails_a_branch_in_the_words_of_the_system(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    folder = repository(tmp_path / "project")
    small = tmp_path / "workspaces"
    (tmp_path / "home").mkdir()
    (tmp_path / "home/config.toml").write_text(f'[explore]\nworkspaces = "{small}"\n')
    script = f"""
        agentsh explore --approve all -n 1 --setup 'cat /dev/zero > zeros || exit 1' --output json \
            "{PROMPT}"; echo $?
    """

    full, code, _ = on_small_disk(folder, endpoint, small, script)

    assert (statuses(full), code) == (["ended", "failed"], "1")
    assert "No space left on device" in json.loads(full)["branches"][0]["error"]
    assert endpoint.requests == []


def test_a_log_that_takes_no_more_begins_nothing_more(tmp_path: Path, endpoint: Endpoint) -> None:
    folder = repository(tmp_path / "project")
    sessions = tmp_path / "home" / "sessions"
    script = f"""
        head -c $(({SIZE} - {FILLED} - 60000)) /dev/zero > {sessions}/more
        agentsh explore --approve all -n 40 -j 1 --check true "{PROMPT}" > /dev/null; echo $?
        rm {sessions}/filler
        agentsh explore show --json
    """

    code, shown, said = on_small_disk(folder, endpoint, sessions, script)

    assert code == "1", said
    assert "exploration.jsonl was not written: No space left on device" in said
    value = json.loads(shown)
    rows = [row["status"] for row in value["branches"]]
    assert (value["status"], rows[-1]) == ("stopped", "queued")
    assert rows.count("running") <= 1
