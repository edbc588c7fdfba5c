"""What a pick makes of the session that it goes into."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.endpoint import Endpoint
from tests.support.exploring import PROMPT, REAL, agentsh, run

pytestmark = REAL


def sessions(project: Path) -> list[Path]:
    """Those that are listed: one folder deep."""
    return sorted((project.parent / "home").glob("**/sessions/*/*.jsonl"))


def picked(project: Path, endpoint: Endpoint, *words: str) -> dict[str, object]:
    done = run(project, endpoint, "pick", *words, "--json")
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert isinstance(value, dict)
    return value


def test_without_a_trunk_all_picks_go_into_one_session(project: Path, endpoint: Endpoint) -> None:
    assert run(project, endpoint, "-n", "2", PROMPT).returncode == 0

    first = picked(project, endpoint, "1")
    other = picked(project, endpoint, "2", "--overwrite")
    again = picked(project, endpoint, "1", "--overwrite")

    assert len(sessions(project)) == 1
    assert first["session"] == other["session"] == again["session"]
    lines = [json.loads(line) for line in sessions(project)[0].read_text().splitlines()]
    said = [line for line in lines if line.get("message", {}).get("role") == "user"]
    assert len(said) == 2  # each branch once; the third pick is a move
    text_now = (project / "answer.txt").read_text()
    shown = json.loads(run(project, endpoint, "show", "--json").stdout)
    assert shown["picked"] == 1
    assert text_now in run(project, endpoint, "diff", "1").stdout.decode()
    sessions(project)[0].unlink()
    gone = picked(project, endpoint, "2", "--overwrite")
    assert gone["session"] != first["session"]


def test_a_trunk_in_the_archive_takes_no_pick_until_it_is_back(
    project: Path, endpoint: Endpoint
) -> None:
    assert agentsh(project, endpoint, "run", "--approve", "all", "first").returncode == 0
    (project / "answer.txt").unlink()
    [trunk] = sessions(project)
    name = json.loads(trunk.read_text().splitlines()[0])["id"]
    assert run(project, endpoint, "-c", "-n", "1", PROMPT).returncode == 0
    assert agentsh(project, endpoint, "sessions", "archive", name).returncode == 0

    refused = run(project, endpoint, "pick", "1")

    assert refused.returncode == 4
    assert f"agentsh sessions unarchive {name}".encode() in refused.stderr
    assert not (project / "answer.txt").exists()
    assert sessions(project) == []

    assert agentsh(project, endpoint, "sessions", "unarchive", name).returncode == 0
    assert picked(project, endpoint, "1")["session"] == name
    assert (project / "answer.txt").exists()


def test_a_trunk_that_is_gone_is_replaced_by_a_session_of_its_own(
    project: Path, endpoint: Endpoint
) -> None:
    assert agentsh(project, endpoint, "run", "--approve", "all", "first").returncode == 0
    (project / "answer.txt").unlink()
    [trunk] = sessions(project)
    assert run(project, endpoint, "-c", "-n", "1", PROMPT).returncode == 0
    trunk.unlink()

    path = Path(str(picked(project, endpoint, "1")["path"]))

    assert [path] == sessions(project)
    said = [
        json.loads(line).get("message", {}).get("role") for line in path.read_text().splitlines()
    ]
    assert said.count("user") == 2  # the history that it began with, and its own
