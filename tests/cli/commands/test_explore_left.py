"""What an exploration leaves, and a crash of one: captured, cleaned, taken away."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

from agentsh.files import is_there
from tests.support.endpoint import Handler, calls, serve, silence
from tests.support.explored import TWO, Explored
from tests.support.exploring import PROMPT, REAL, begin

pytestmark = REAL


def killed_at_work(explored: Explored) -> None:
    """Its only branch has written, and never ended."""
    written = explored.folder.parent / "written"

    def reply(handler: Handler) -> None:
        body = json.loads(handler.scripted.requests[-1].raw)
        if any(message["role"] == "tool" for message in body["messages"]):
            written.write_text("")
            handler.scripted.closing.wait(60)
        else:
            calls(("c1", "write", {"path": "answer.txt", "content": "half\n"}))(handler)

    with serve(reply) as endpoint:
        running = begin(explored.folder, endpoint, "-n", "1", PROMPT)
        until = time.monotonic() + 60
        while not written.exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        running.send_signal(signal.SIGKILL)
        running.wait()


def workspaces(explored: Explored) -> list[Path]:
    places = (explored.folder.parent / "home").rglob("work")
    return [each for each in places if each.is_dir()]


def test_what_a_crash_left_is_captured_before_its_workspace_goes(explored: Explored) -> None:
    killed_at_work(explored)
    [workspace] = workspaces(explored)
    assert str(workspace) in explored.explore("clean", "--dry-run").out
    assert is_there(workspace)

    until = time.monotonic() + 30
    while (cleaned := explored.explore("clean")).code == 0 and workspaces(explored):
        # the branch's own process hears of the crash a moment later
        assert f"{workspace} stays: " in cleaned.err, cleaned
        assert time.monotonic() < until
        time.sleep(0.1)

    assert cleaned.code == 0
    assert cleaned.out.endswith(": cleaned\n")
    assert "+half\n" in explored.patch("1")
    assert explored.explore("clean").out == ""  # there is nothing more


def test_a_workspace_that_cannot_be_captured_stays_and_is_named(explored: Explored) -> None:
    killed_at_work(explored)
    [workspace] = workspaces(explored)
    store = next((explored.folder.parent / "home").rglob("store.git"))
    head = (store / "HEAD").read_bytes()
    (store / "HEAD").unlink()

    cleaned = explored.explore("clean")

    assert f"{workspace} stays: " in cleaned.err
    assert is_there(workspace)

    (store / "HEAD").write_bytes(head)
    (workspace.parent / "index.lock").write_text("of a git that was killed\n")
    assert explored.explore("clean").err == ""
    assert not is_there(workspace)
    assert "+half\n" in explored.patch("1")


def test_what_a_crash_left_of_a_copy_or_of_a_check_of_the_base_goes(explored: Explored) -> None:
    explored.run(*TWO)
    data = next((explored.folder.parent / "home").rglob("store.git")).parent
    left = [data / "0" / "work", data / "2" / "half", data / "index-0a1b"]
    for folder in left:
        folder.mkdir(parents=True)
        (folder / "a.txt").write_text("one\n")

    assert all(str(folder) in explored.explore("clean", "--dry-run").out for folder in left[:2])
    explored.explore("clean")

    assert not any(map(is_there, left))
    assert explored.explore("clean", "--dry-run").out == ""


def test_what_is_taken_away_lies_in_the_trash_and_its_data_is_gone(explored: Explored) -> None:
    name = explored.run(*TWO)["exploration"]
    asked = explored.explore("rm", name)
    assert asked.code == 2
    assert "--yes" in asked.err
    assert len(explored.json("list")) == 1

    removed = explored.explore("rm", name, "--yes")

    assert removed.code == 0
    target = Path(removed.out.removeprefix("moved to ").strip())
    assert (target / "exploration.jsonl").is_file()
    assert explored.json("list") == []
    left = {p.name for p in (explored.folder.parent / "home").rglob("*") if p.is_dir()}
    assert "store.git" not in left


def test_one_that_another_process_runs_is_neither_taken_away_nor_cleaned(
    explored: Explored,
) -> None:
    with serve(silence) as endpoint:
        running = begin(explored.folder, endpoint, "-n", "1", PROMPT)
        until = time.monotonic() + 60
        while not endpoint.requests:
            assert time.monotonic() < until
            time.sleep(0.05)

        refused = explored.explore("rm", "last", "--yes")
        cleaned = explored.explore("clean")

        assert refused.code == 4
        assert f"is run by process {running.pid}" in refused.err
        assert cleaned.out == ""
        assert explored.json("list")[0]["status"] == "running"
        os.kill(running.pid, signal.SIGINT)
        assert running.wait(60) == 130
