"""An exploration that is over: listed, shown, compared, exported, picked, cleaned, taken away.

It runs in this process, its branches in their own.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentsh.files import is_there
from tests.cli.program import Ended, agentsh
from tests.support.endpoint import Endpoint, Handler, calls, serve, silence
from tests.support.exploring import PROMPT, REAL, begin, environ, git, numbered, repository

pytestmark = REAL


class Explored:
    """A project in which two branches have written `answer.txt`."""

    def __init__(self, folder: Path, endpoint: Endpoint) -> None:
        self.folder = folder
        self.endpoint = endpoint

    def explore(self, *words: str) -> Ended:
        return agentsh("explore", *words, cwd=self.folder)

    def json(self, *words: str) -> Any:
        done = self.explore(*words, "--json")
        assert done.code == 0, done.err
        return done.json()

    def run(self, *words: str) -> Any:
        done = self.explore("--output", "json", *words)
        assert done.code == 0, done.err
        return done.json()

    def sessions(self) -> list[str]:
        """The ids of those of the folder."""
        listed: Any = agentsh("sessions", "--json", cwd=self.folder).json()
        return [row["id"] for row in listed]

    @property
    def answer(self) -> str | None:
        file = self.folder / "answer.txt"
        return file.read_text() if file.exists() else None

    def patch(self, *words: str) -> str:
        done = self.explore("diff", *words)
        assert done.code == 0, done.err
        return done.out


@pytest.fixture
def explored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Explored]:
    folder = repository(tmp_path / "project")
    with serve(numbered()) as endpoint:
        for name, value in environ(folder, endpoint).items():
            monkeypatch.setenv(name, value)
        yield Explored(folder, endpoint)


TWO = ("-n", "2", "-j", "1", "--check", "grep -q 2 answer.txt", PROMPT)


def test_events_tell_each_change_in_its_order_and_end_with_the_whole(explored: Explored) -> None:
    done = explored.explore("--output", "events", *TWO)

    assert done.code == 0
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [lines[0]["type"], lines[-1]["type"]] == ["exploration", "done"]
    told = [(line["n"], line["status"]) for line in lines if line["type"] == "branch"]
    assert [status for n, status in told if n == 1][-1] == "completed"
    assert told.index((1, "completed")) < told.index((2, "running"))
    steps = [line for line in lines if line["type"] == "step"]
    assert {line["n"] for line in steps} == {1, 2}
    assert all(line["usage"]["input"] > 0 for line in steps)
    assert lines[-1]["best"] == 2


def test_as_text_the_table_is_the_result_and_says_what_may_be_done_now(explored: Explored) -> None:
    done = explored.explore(*TWO)

    [listed] = explored.json("list")
    name = listed["exploration"]
    assert done.code == 0
    assert f"exploration {name}: 2 branches to run" in done.err
    assert f"{name}.1 running" in done.err
    head, first, second, *more = done.out.splitlines()
    assert head.split() == [
        *("branch", "status", "model", "files", "+", "-", "check"),
        *("steps", "tokens", "cost", "time"),
    ]
    assert first.split()[:7] == [f"{name}.1", "completed", "m", "1", "1", "0", "exit"]
    assert second.split()[:7] == [f"{name}.2", "completed", "m", "1", "1", "0", "passed"]
    assert f"agentsh explore pick {name}.2    bring it here" in more
    shown = explored.explore("show")
    assert shown.out == done.out
    listed_line = explored.explore("list").out
    assert listed_line.startswith(f"{name} ")
    assert "2/2 completed" in listed_line


def test_what_is_followed_ends_where_nobody_runs_it(explored: Explored) -> None:
    explored.run(*TWO)

    followed = explored.explore("show", "--follow")

    assert followed.code == 0
    assert followed.out == explored.explore("show").out
    assert explored.json("show", "--follow") == explored.json("show")


def test_lists_are_of_this_folder_unless_all_are_asked_for(explored: Explored) -> None:
    explored.run(*TWO)
    elsewhere = explored.folder.parent / "elsewhere"
    elsewhere.mkdir()

    here = agentsh("explore", "list", "--json", cwd=elsewhere).json()
    everywhere = agentsh("explore", "list", "--all", "--json", cwd=elsewhere).json()

    assert here == []
    assert everywhere == explored.json("list")


# ---- differences ---------------------------------------------------------------------------------


def test_two_branches_differ_by_what_leads_from_the_one_to_the_other(explored: Explored) -> None:
    explored.run(*TWO)

    between = explored.patch("1", "2")

    assert "-colour 1\n+colour 2\n" in between
    assert "+colour 1\n" in explored.patch("1")
    assert explored.patch("1", "1") == ""


def test_a_branch_differs_from_the_folder_as_it_is_now(explored: Explored) -> None:
    explored.run(*TWO)
    (explored.folder / "a.txt").write_text("changed here\n")

    from_there = explored.patch("2", "here")

    assert "-one\n+changed here\n" in from_there
    assert "-colour 2\n" in from_there  # the branch has it, the folder does not
    status = git(explored.folder, "status", "--porcelain")
    assert status.split() == ["M", "a.txt"]  # nothing of the repository was touched


def test_branches_of_different_explorations_have_no_common_base(explored: Explored) -> None:
    first, second = (explored.run("-n", "1", PROMPT)["exploration"] for _ in range(2))

    refused = explored.explore("diff", f"{first}.1", f"{second}.1")

    assert refused.code == 2
    assert "no common base" in refused.err


def test_a_branch_that_is_none_is_exit_3(explored: Explored) -> None:
    explored.run(*TWO)

    for words in (("diff", "9"), ("pick", "9"), ("show", "heron"), ("rm", "heron", "--yes")):
        assert explored.explore(*words).code == 3, words


# ---- export --------------------------------------------------------------------------------------


def test_an_export_has_a_line_for_each_branch_with_its_patch(explored: Explored) -> None:
    explored.run(*TWO)
    to = explored.folder.parent / "rows.jsonl"

    assert explored.explore("export", "last", "--to", str(to)).code == 0

    rows = [json.loads(line) for line in to.read_text().splitlines()]
    assert [(row["status"], row["model"], row["check"]) for row in rows] == [
        ("completed", "m", 1),
        ("completed", "m", 0),
    ]
    assert [row["patch"] for row in rows] == [explored.patch("1"), explored.patch("2")]
    before = to.read_bytes()
    assert explored.explore("export", "last", "--to", str(to)).code == 2
    assert to.read_bytes() == before
    assert explored.explore("export", "last").code == 2


def test_predictions_are_what_benchmarks_take_and_no_more(explored: Explored) -> None:
    tasks = explored.folder.parent / "tasks.jsonl"
    tasks.write_text(json.dumps({"id": "heron-1", "prompt": PROMPT, "mine": 7}) + "\n")
    explored.run("-n", "1", "--tasks", str(tasks))
    to = explored.folder.parent / "p.jsonl"

    assert explored.explore("export", "last", "--predictions", "--to", str(to)).code == 0

    [row] = [json.loads(line) for line in to.read_text().splitlines()]
    assert row == {
        "instance_id": "heron-1",
        "model_name_or_path": "m",
        "model_patch": explored.patch("1"),
    }


# ---- pick ----------------------------------------------------------------------------------------


def test_a_pick_that_is_dry_says_what_it_would_do_and_does_nothing(explored: Explored) -> None:
    explored.run(*TWO)

    dry = explored.explore("pick", "2", "--dry-run")

    assert dry.code == 0
    assert "answer.txt" in dry.err + dry.out
    assert explored.answer is None
    assert explored.json("show")["picked"] is None


def test_a_pick_brings_the_conversation_into_a_session_of_the_folder(explored: Explored) -> None:
    explored.run(*TWO)

    picked = explored.json("pick", "2")

    assert picked["files"] == [{"path": "answer.txt", "kind": "create"}]
    assert explored.answer == "colour 2\n"
    shown = agentsh("show", picked["session"], "--json", cwd=explored.folder).json()
    assert isinstance(shown, dict)
    assert [m["text"] for m in shown["messages"] if m["role"] == "user"] == [PROMPT]
    assert explored.sessions() == [picked["session"]]


def test_only_the_conversation_may_be_picked(explored: Explored) -> None:
    explored.run(*TWO)

    picked = explored.json("pick", "2", "--no-files")

    assert picked["files"] == []
    assert picked["session"]
    assert explored.answer is None


def test_a_file_that_changed_here_since_is_a_conflict_unless_it_is_overwritten(
    explored: Explored,
) -> None:
    explored.run(*TWO)
    (explored.folder / "answer.txt").write_text("mine\n")

    refused = explored.explore("pick", "2")
    dry = explored.explore("pick", "2", "--dry-run")
    assert refused.code == 4
    assert "answer.txt" in refused.err
    assert "changed here since: answer.txt" in dry.err + dry.out
    assert explored.answer == "mine\n"

    assert explored.explore("pick", "2", "--overwrite").code == 0
    assert explored.answer == "colour 2\n"


def test_a_pick_with_a_trunk_goes_on_in_the_session_that_it_began_in(explored: Explored) -> None:
    assert agentsh("run", "--approve", "all", "first", cwd=explored.folder).code == 0
    [session] = explored.sessions()
    explored.run("-n", "2", "-j", "1", "-c", PROMPT)

    picked = explored.json("pick", "2")

    assert picked["session"] == session
    shown = agentsh("show", session, "--json", cwd=explored.folder).json()
    assert isinstance(shown, dict)
    prompts = [m["text"] for m in shown["messages"] if m["role"] == "user"]
    assert prompts == ["first", PROMPT]


# ---- tidied up -----------------------------------------------------------------------------------


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
    left = [data / "0" / "work", data / "2" / "half"]
    for folder in left:
        folder.mkdir(parents=True)
        (folder / "a.txt").write_text("one\n")

    assert all(str(folder) in explored.explore("clean", "--dry-run").out for folder in left)
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


def test_stopping_what_nobody_runs_is_refused(explored: Explored) -> None:
    explored.run(*TWO)

    refused = explored.explore("stop", "last")

    assert refused.code == 4
    assert "is not running" in refused.err


def test_again_takes_up_what_ended_so_and_nothing_else(explored: Explored) -> None:
    explored.run(*TWO)
    asked = len(explored.endpoint.requests)

    assert explored.explore("resume", "--again", "heron").code == 2
    same = explored.explore("resume", "--output", "json")

    assert same.code == 0
    assert len(explored.endpoint.requests) == asked
