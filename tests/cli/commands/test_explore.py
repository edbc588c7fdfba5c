"""`agentsh explore` from its words to its files, with real processes and a scripted endpoint."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.endpoint import Endpoint, Handler, calls, serve, status, text
from tests.support.exploring import PROMPT, REAL, begin, numbered, repository, run

pytestmark = REAL


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "project")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve(numbered()) as serving:
        yield serving


def everything(root: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def test_branches_keep_apart_are_compared_and_one_is_picked(
    project: Path, endpoint: Endpoint
) -> None:
    before = everything(project)

    done = run(
        project, endpoint, "-n", "2", "--check", "grep -q 2 answer.txt", "--output", "json", PROMPT
    )

    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert [row["status"] for row in value["branches"]] == ["completed", "completed"]
    assert everything(project) == before
    best = value["best"]
    patch = run(project, endpoint, "diff", str(best)).stdout
    assert b"+colour 2" in patch
    subprocess.run(["git", "apply", "--check", "-"], cwd=project, input=patch, check=True)
    assert run(project, endpoint, "pick", str(best)).returncode == 0
    assert (project / "answer.txt").read_text() == "colour 2\n"
    assert json.loads(run(project, endpoint, "show", "--json").stdout)["picked"] == best


def test_in_the_sandbox_git_has_its_history(project: Path, endpoint: Endpoint) -> None:
    check = "git log --format=%s && git status --porcelain && ls ~"

    done = run(
        project, endpoint, "-n", "1", "--sandbox", "--check", check, "--output", "json", PROMPT
    )

    [row] = json.loads(done.stdout)["branches"]
    assert row["check"]["output"].startswith("base\n?? answer.txt\n"), row


def test_killed_in_the_middle_it_goes_on_where_it_was(project: Path, tmp_path: Path) -> None:
    marker = tmp_path / "held"

    def reply(handler: Handler) -> None:
        body = json.loads(handler.scripted.requests[-1].raw)
        if not any(message["role"] == "tool" for message in body["messages"]):
            calls(("c1", "write", {"path": "answer.txt", "content": "mine\n"}))(handler)
        elif not marker.exists():
            marker.write_text("")
            handler.scripted.closing.wait(60)
        else:
            text("done")(handler)

    with serve(reply) as endpoint:
        running = begin(project, endpoint, "-n", "1", PROMPT)
        until = time.monotonic() + 60
        while not marker.exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        running.send_signal(signal.SIGKILL)
        running.wait()
        [listed] = json.loads(run(project, endpoint, "list", "--json").stdout)
        assert listed["status"] == "stopped"
        asked = len(endpoint.requests)

        done = run(project, endpoint, "resume", "--output", "json")

        [row] = json.loads(done.stdout)["branches"]
        assert (row["status"], row["tries"], row["files"]) == ("completed", 2, 1)
        assert len(endpoint.requests) == asked + 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["-n", "2"], 2, "there is no prompt"),
        (["--first", PROMPT], 2, "--first needs a check"),
        (["--with", "../x", PROMPT], 2, "not inside"),
        (["--tasks", "none.txt"], 2, "none.txt"),
        (["--engine", "abacus", PROMPT], 2, "abacus"),
        (["--cost-limit", "1", PROMPT], 2, "no price of m"),
        (["--protect", "{", PROMPT], 2, "--protect: a { is not closed"),
        (["--time-limit", "inf", PROMPT], 2, "inf is no number"),
        (["show", "ffffffff"], 3, "no exploration is called"),
        (["pick", "1"], 3, "no exploration"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_asked(
    words: list[str], code: int, said: str, project: Path, endpoint: Endpoint
) -> None:
    done = run(project, endpoint, *words)

    assert done.returncode == code
    assert re.search(said, done.stderr.decode())
    assert endpoint.requests == []
    assert shutil.which("git")


def test_own_folders_in_the_project_are_no_work_of_a_branch(
    project: Path, endpoint: Endpoint
) -> None:
    home = project / "own"

    done = run(project, endpoint, "-n", "1", "--output", "json", PROMPT, home=home)

    [row] = json.loads(done.stdout)["branches"]
    assert [each["path"] for each in row["changed"]] == ["answer.txt"]


def test_a_log_that_is_broken_hides_no_other(project: Path, endpoint: Endpoint) -> None:
    assert run(project, endpoint, "-n", "1", PROMPT).returncode == 0
    [log] = (project.parent / "home").rglob("exploration.jsonl")
    broken = log.parent.parent / "00000000"
    broken.mkdir()
    (broken / log.name).write_bytes(b"")

    listed = run(project, endpoint, "list", "--json")

    assert [row["exploration"] for row in json.loads(listed.stdout)] == [log.parent.name]
    assert b"exploration 00000000 cannot be read" in listed.stderr
    assert run(project, endpoint, "show").returncode == 0
    place = project / "none" / "x.jsonl"
    assert run(project, endpoint, "export", "last", "--to", str(place)).returncode == 2
    shutil.rmtree(next((project.parent / "home").rglob("store.git")))
    gone = run(project, endpoint, "diff", "1")
    assert gone.returncode == 4
    assert b"are gone" in gone.stderr


def test_a_file_behind_a_link_is_a_conflict_of_a_pick(project: Path, tmp_path: Path) -> None:
    (project / "src").mkdir()
    (project / "src" / "b.txt").write_text("two\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b.txt").write_text("two\n")

    def reply(handler: Handler) -> None:
        if b'"tool"' in handler.scripted.requests[-1].raw:
            text("done")(handler)
        else:
            calls(("c1", "bash", {"command": "echo new > src/b.txt"}))(handler)

    with serve(reply) as endpoint:
        assert run(project, endpoint, "-n", "1", "--approve", "all", PROMPT).returncode == 0
        shutil.rmtree(project / "src")
        (project / "src").symlink_to(outside)

        refused = run(project, endpoint, "pick", "1")
        taken = run(project, endpoint, "pick", "1", "--overwrite")

    assert refused.returncode == 4
    assert b"src/b.txt" in refused.stderr
    assert (outside / "b.txt").read_text() == "two\n"
    assert taken.returncode in (0, 1), taken.stderr


def test_what_is_lent_need_not_be_in_every_tasks_folder(project: Path, endpoint: Endpoint) -> None:
    (project / "lib").mkdir()
    (project / ".git" / "info" / "exclude").write_text("/lib\n")
    other = project.parent / "other"
    other.mkdir()
    tasks = project.parent / "tasks.jsonl"
    tasks.write_text('{"prompt": "a"}\n{"prompt": "b", "folder": "other"}\n')

    done = run(project, endpoint, "--tasks", str(tasks), "--share", "lib", "--output", "json")

    rows = json.loads(done.stdout)["branches"]
    assert [row["status"] for row in rows] == ["completed", "completed"]
    (project / "link").symlink_to(other)
    refused = run(project, endpoint, "--with", "link/x", PROMPT)
    assert refused.returncode == 2


def test_a_key_that_is_refused_stops_what_has_not_begun(project: Path) -> None:
    refusal = {"error": {"message": "Incorrect API key provided", "type": "invalid_request_error"}}
    with serve(status(401, refusal)) as endpoint:
        done = run(project, endpoint, "-n", "4", "-j", "1", "--output", "json", PROMPT)

        rows = json.loads(done.stdout)["branches"]
        assert done.returncode == 1
        assert [row["status"] for row in rows] == ["failed", "queued", "queued", "queued"]
        assert len(endpoint.requests) == 1
        assert b"explore resume" in done.stderr
