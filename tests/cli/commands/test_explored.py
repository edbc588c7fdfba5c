"""Explorations, most of them over: listed, shown, followed, compared, exported, picked.

It runs in this process, its branches in their own.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from pathlib import Path
from typing import IO

from agentsh.programs import OWN_PROGRAM
from tests.cli.program import agentsh
from tests.support.endpoint import Handler, serve, text
from tests.support.explored import TWO, Explored
from tests.support.exploring import PROMPT, REAL, begin, environ, git, repository

pytestmark = REAL


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


def test_what_another_process_runs_is_shown_as_it_changes(tmp_path: Path) -> None:
    folder, answers = repository(tmp_path / "project"), threading.Semaphore(0)

    def reply(handler: Handler) -> None:
        assert answers.acquire(timeout=30)
        text("done")(handler)

    with serve(reply) as endpoint:
        running = begin(folder, endpoint, "-n", "2", "-j", "1", PROMPT)
        until = time.monotonic() + 30
        while len(endpoint.requests) < 1:  # the first has begun, which is on record before it asks
            assert time.monotonic() < until
            time.sleep(0.05)
        with subprocess.Popen(
            [*OWN_PROGRAM, "explore", "show", "--follow"],
            cwd=folder,
            env=environ(folder, endpoint),
            stdout=subprocess.PIPE,
        ) as following:
            assert following.stdout is not None
            seen = [_statuses(following.stdout)]
            answers.release()
            while seen[-1] != ["completed", "running"]:
                seen.append(_statuses(following.stdout))
            answers.release()
            rest = following.stdout.read().decode()
        assert (running.wait(30), following.returncode) == (0, 0)

    assert seen[0] == ["running", "queued"]
    assert rest.count(" completed ") >= 2


def _statuses(out: IO[bytes]) -> list[str]:
    """Of the next table."""
    lines = [out.readline().decode().split() for _ in range(3)]
    return [words[1] for words in lines[1:]]


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


def test_the_lines_of_a_branch_that_was_brought_here_are_by_its_prompt(explored: Explored) -> None:
    explored.run(*TWO)
    picked = explored.json("pick", "2")
    (explored.folder / "answer.txt").write_text("colour 2\nmine\n")

    told = agentsh("why", "answer.txt", "--json", cwd=explored.folder).json()

    assert isinstance(told, list)
    rows = [(row["who"], row["prompt"], row["session"]) for row in told if isinstance(row, dict)]
    assert rows == [("agent", PROMPT, picked["session"]), ("person", None, None)]


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
