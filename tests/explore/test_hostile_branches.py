"""What a branch or a folder can do to whoever captures, checks and keeps it: nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agentsh.abort import Abort
from agentsh.errors import UsageError
from agentsh.explore.log.facts import CaptureFact
from agentsh.explore.running.checking import CommandSurroundings, run_check
from agentsh.explore.running.lines import (
    BranchJob,
    CaptureLine,
    encode_runner_line,
    read_from_runner,
    read_to_runner,
)
from agentsh.explore.workspace.basing import must_be_repository
from agentsh.explore.workspace.capture import ResultStore
from agentsh.explore.workspace.copying import remove_tree
from agentsh.explore.workspace.gitcalls import GitCalls, find_git
from agentsh.explore.workspace.private_git import lend_from
from tests.support.plain_user import plain_user

ODD = b"odd\xff"


@pytest.fixture
def git() -> GitCalls:
    return find_git(os.environ, Path("/"))


@pytest.fixture
def store(git: GitCalls, tmp_path: Path) -> ResultStore:
    return ResultStore(git, tmp_path / "store.git", tmp_path / "index", (b"home/",))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "tests").mkdir(parents=True)
    (folder / "tests" / "t.txt").write_text("asked\n")
    return folder


def job(work: Path, base: Path, **more: object) -> BranchJob:
    values: dict[str, object] = {
        "n": 1, "attempt": 1, "kind": "branch", "prompt": "hi", "cwd": str(work),
        "root": str(work), "branch": str(work.parent), "store": "", "base_index": "",
        "base_commit": "", "base_files": str(base), "sessions": "", "options": {},
        "check": "cat tests/t.txt", "check_timeout": 20.0,
    }  # fmt: skip
    return BranchJob(**{**values, **more})  # type: ignore[arg-type]


def test_a_folder_that_became_a_link_is_a_change(
    store: ResultStore, work: Path, tmp_path: Path
) -> None:
    base = store.begin(work, [b"tests/t.txt"], b"")
    remove_tree(work / "tests")
    (work / "tests").symlink_to(tmp_path)

    captured = store.capture(work, tmp_path, base, {}, "branch-1")

    assert captured.changed == (("tests", "create"), ("tests/t.txt", "delete"))


def test_names_need_not_be_text_and_own_folders_are_no_work_of_a_branch(
    store: ResultStore, work: Path, tmp_path: Path
) -> None:
    base = store.begin(work, [b"tests/t.txt"], b"")
    (work / os.fsdecode(ODD)).write_text("x")
    (work / "home").mkdir()
    (work / "home" / "exploration.jsonl").write_text("{}")

    captured = store.capture(work, tmp_path, base, {}, "branch-1")

    assert [os.fsencode(path) for path, _ in captured.changed] == [ODD]
    fact = CaptureFact(1, "c", "t", captured.changed, 1, 0, ())
    line = CaptureLine(fact)
    assert read_from_runner(encode_runner_line(line)) == line


def test_a_job_keeps_words_that_are_no_utf8(work: Path) -> None:
    odd = job(work, work, check=os.fsdecode(b"cat " + ODD))

    assert read_to_runner(encode_runner_line(odd)) == odd


def test_protected_files_are_put_back_and_never_through_a_link(work: Path, tmp_path: Path) -> None:
    outside, base = tmp_path / "outside", tmp_path / "base"
    for folder, content in ((outside, "precious\n"), (base / "tests", "asked\n")):
        folder.mkdir(parents=True)
        (folder / "t.txt").write_text(content)
    remove_tree(work / "tests")
    (work / "tests").symlink_to(outside)
    (work / "tests.d").symlink_to(outside)
    protected = ("tests/t.txt", "tests.d/t.txt")
    captured = CaptureFact(1, "c", "t", (), 0, 0, protected)

    around = CommandSurroundings({**os.environ}, tmp_path)
    checked = run_check(job(work, base), around, Abort(), captured)

    assert (checked.exit, checked.output.strip()) == (0, "asked")
    assert (outside / "t.txt").read_text() == "precious\n"


def test_a_protected_file_that_became_a_folder_is_a_file_for_the_check(
    work: Path, tmp_path: Path
) -> None:
    base = tmp_path / "base"
    (base / "tests").mkdir(parents=True)
    (base / "tests" / "t.txt").write_text("asked\n")
    (work / "tests" / "t.txt").unlink()
    (work / "tests" / "t.txt").mkdir()
    captured = CaptureFact(1, "c", "t", (), 0, 0, ("tests/t.txt",))

    around = CommandSurroundings({**os.environ}, tmp_path)
    assert run_check(job(work, base), around, Abort(), captured).exit == 0


@pytest.mark.parametrize("trick", ["pipe", "link", "git"])
def test_a_workspace_that_is_kept_is_no_trap(trick: str, tmp_path: Path) -> None:
    git_folder, victim = tmp_path / "work" / ".git", tmp_path / "victim"
    victim.mkdir()
    (victim / "objects" / "info").mkdir(parents=True)
    file = victim / "objects" / "info" / "alternates"
    file.write_text("/borrowed/objects\n")
    if trick == "git":
        git_folder.parent.mkdir()
        git_folder.symlink_to(victim)
    else:
        (git_folder / "objects" / "info").mkdir(parents=True)
        place = git_folder / "objects" / "info" / "alternates"
        os.mkfifo(place) if trick == "pipe" else place.symlink_to(file)

    lend_from(git_folder, Path("/borrowed"), Path("/person"))

    assert file.read_text() == "/borrowed/objects\n"


def test_a_list_without_end_in_a_workspace_is_not_taken_into_memory(tmp_path: Path) -> None:
    place = tmp_path / "work" / ".git" / "objects" / "info" / "alternates"
    place.parent.mkdir(parents=True)
    place.touch()
    os.truncate(place, 1 << 40)  # a sparse file: nothing on the disk

    lend_from(tmp_path / "work" / ".git", Path("/borrowed"), Path("/person"))

    assert place.stat().st_size == 1 << 40


@pytest.mark.parametrize("elsewhere", ["home", "beside"])
def test_settings_cannot_put_the_files_somewhere_else(
    git: GitCalls, tmp_path: Path, elsewhere: str
) -> None:
    project = tmp_path / "project"
    (tmp_path / "home").mkdir()
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    must_be_repository(git, project, tmp_path / "home", ())
    target = tmp_path / "home" if elsewhere == "home" else tmp_path
    subprocess.run(["git", "-C", str(project), "config", "core.worktree", str(target)], check=True)

    with pytest.raises(UsageError):
        must_be_repository(git, project, tmp_path / "home", ())


def test_the_repository_of_a_home_folder_is_no_project(git: GitCalls, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)

    with pytest.raises(UsageError, match="home folder"):
        must_be_repository(git, tmp_path / "project", tmp_path, ())


def test_closed_folders_go_with_what_is_in_them(tmp_path: Path) -> None:
    closed = tmp_path / "work" / "a" / "b"
    closed.mkdir(parents=True)
    (closed / "file").write_text("x")
    with plain_user(tmp_path):
        closed.chmod(0)
        closed.parent.chmod(0)

        remove_tree(tmp_path / "work")

    assert not (tmp_path / "work").exists()
