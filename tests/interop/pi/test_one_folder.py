"""agentsh pointed at Pi's sessions: each lists and continues what the other left there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interop.pi.meaning import wire
from tests.interop.pi.peer import ask, listed, needs_pi
from tests.interop.pi.shell import Shell
from tests.support.endpoint import serve, text

pytestmark = [*needs_pi, pytest.mark.slow, pytest.mark.timeout(300)]


def test_each_lists_and_continues_the_last_session_of_a_shared_folder(tmp_path: Path) -> None:
    home = tmp_path / "pi"
    folder = home / ".pi" / "agent" / "sessions"
    folder.mkdir(parents=True)
    replies = [text(f"answer {n}") for n in range(1, 5)]
    with serve(*replies) as endpoint:
        shell = Shell(tmp_path, endpoint)
        ours = ("--session-dir", str(folder))
        shell.run("run", "one", *ours)
        [shell.path] = folder.rglob("*.jsonl")
        shell.run("rename", "last", "a name", *ours)
        ask(home, shell.cwd, endpoint.base_url, "-c", "-p", "two")
        shell.run("run", "three", "-c", *ours)
        ask(home, shell.cwd, endpoint.base_url, "-p", "another one")
        sent = [wire(body["messages"]) for body in endpoint.bodies]  # type: ignore[arg-type]
        [another, first] = listed(shell.path.parent, shell.cwd, home)
        rows = json.loads(shell.run("sessions", "--json", *ours))

    assert [[said[1] for said in one] for one in sent] == [
        ["one"],
        ["one", "answer 1", "two"],
        ["one", "answer 1", "two", "answer 2", "three"],
        ["another one"],
    ]
    assert len(list(folder.rglob("*.jsonl"))) == 2
    assert (first["name"], first["firstMessage"]) == ("a name", "one")
    assert another["firstMessage"] == "another one"
    assert [row["id"] for row in rows] == [another["id"], first["id"]]
    assert [(row["name"], row["prompt"]) for row in rows] == [
        (None, "another one"),
        ("a name", "one"),
    ]
