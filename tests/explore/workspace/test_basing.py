"""A workspace is the folder as it is, git says the same of it, and the folder keeps every byte."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from agentsh.errors import UsageError
from agentsh.explore.workspace.basing import (
    FrozenBase,
    freeze_folder,
    lay_out_workspace,
    must_be_project,
    opened_base,
)
from agentsh.explore.workspace.copying import copy_paths
from agentsh.explore.workspace.gitcalls import GitCalls, find_git

PLAIN = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ["git", *who, *words],
        cwd=folder,
        env={**os.environ, **PLAIN},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.fixture
def calls(tmp_path: Path) -> GitCalls:
    return find_git(os.environ, tmp_path)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Modified, staged, deleted, untracked, ignored; a link; a program."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("a.txt", "gone.txt", "staged.txt", "run.sh"):
        (folder / name).write_text(f"{name}\n")
    (folder / "run.sh").chmod(0o755)
    (folder / ".gitignore").write_text("build/\n.env\n")
    (folder / "link").symlink_to("a.txt")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "base")
    (folder / "a.txt").write_text("changed\n")
    (folder / "staged.txt").write_text("staged\n")
    git(folder, "add", "staged.txt")
    (folder / "gone.txt").unlink()
    (folder / "new").mkdir()
    (folder / "new" / "n.txt").write_text("new\n")
    (folder / "build").mkdir()
    (folder / "build" / "out").write_text("out\n")
    (folder / ".env").write_text("MODE=test\n")
    return folder


def everything(root: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(root)): os.fsencode(p.readlink()) if p.is_symlink() else p.read_bytes()
        for p in sorted(root.rglob("*"))
        if p.is_symlink() or p.is_file()
    }


def frozen(calls: GitCalls, project: Path, data: Path, *brought: Path) -> tuple[FrozenBase, str]:
    base, _, commit = freeze_folder(
        calls,
        project,
        data / "base" / "0",
        data / "store.git",
        brought=brought,
        lent=(),
        own=(),
        branches=1,
    )
    return base, commit


def workspace(base: FrozenBase, branch: Path) -> Path:
    """As a branch that is kept has it: outside of the view."""
    lay_out_workspace(base.base_folder, branch, base.common or branch / "borrowed")
    return branch / "work"


def opened_again(base: FrozenBase, commit: str) -> FrozenBase:
    """As a later process opens it."""
    results, is_repository = base.results, base.repository is not None
    return opened_base(
        results.git, base.root, base.base_folder, results.store, commit,
        is_repository=is_repository, head=base.head,
    )  # fmt: skip


def test_git_says_of_a_workspace_what_it_says_of_the_folder(
    calls: GitCalls, project: Path, tmp_path: Path
) -> None:
    before = everything(project)
    base, _ = frozen(calls, project, tmp_path / "data")

    work = workspace(base, tmp_path / "data" / "1")

    assert git(work, "status", "--porcelain") == git(project, "status", "--porcelain")
    assert git(work, "log", "--format=%H") == git(project, "log", "--format=%H")
    assert not (work / "build").exists()
    assert not (work / ".env").exists()
    assert (work / "link").is_symlink()
    assert (work / "run.sh").stat().st_mode == (project / "run.sh").stat().st_mode
    for name in ("", "a.txt"):
        there, here = (work / name).stat(), (project / name).stat()
        assert (there.st_mode, there.st_mtime_ns) == (here.st_mode, here.st_mtime_ns), name
    git(work, "commit", "-q", "-a", "-m", "mine")
    git(work, "checkout", "-q", "-b", "other")
    git(work, "gc", "-q", "--prune=now")
    assert everything(project) == before


def test_only_what_a_branch_changed_is_its_result_whatever_it_committed(
    calls: GitCalls, project: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    base, commit = frozen(calls, project, data, project / ".env")
    work = workspace(base, data / "1")
    assert (work / ".env").read_text() == "MODE=test\n"
    (work / "build").mkdir()
    (work / "build" / "made").write_text("ignored\n")
    (work / "setup.txt").write_text("by the setup\n")
    marks = base.results.marks(work, data / "1")

    (work / "a.txt").write_text("changed\nagain\n")
    (work / "run.sh").unlink()
    (work / "b\nd.txt").write_bytes(b"\0\1")
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "mine")
    done = base.results.capture(work, data / "1", commit, marks, "branch-1")

    assert done.changed == (("a.txt", "change"), ("b\nd.txt", "create"), ("run.sh", "delete"))
    assert (done.added, done.removed) == (1, 1)
    patch = base.results.patch(commit, done.commit)
    applied = subprocess.run(
        ["git", "apply", "--check", "-"], cwd=project, input=patch, check=False
    )
    assert applied.returncode == 0


def test_a_base_that_is_gone_is_made_again_from_its_commit(
    calls: GitCalls, project: Path, tmp_path: Path
) -> None:
    base, commit = frozen(calls, project, tmp_path / "data")
    files = everything(base.files)
    subprocess.run(["rm", "-rf", str(base.base_folder)], check=True)

    again = opened_again(base, commit)

    assert everything(again.files) == files
    assert (
        again.results.capture(
            workspace(again, tmp_path / "data" / "2"),
            tmp_path / "data",
            commit,
            {},
            "branch-2",
        ).changed
        == ()
    )


def test_what_a_crash_left_of_a_base_or_a_workspace_is_made_anew(
    calls: GitCalls, project: Path, tmp_path: Path
) -> None:
    base, commit = frozen(calls, project, tmp_path / "data")
    files = everything(base.files)
    (base.base_folder / "paths").unlink()  # the last thing that is written
    (base.files / "a.txt").unlink()
    half = tmp_path / "data" / "1" / "half"
    half.mkdir(parents=True)
    (half / "a.txt").write_text("a part of it")

    work = workspace(opened_again(base, commit), tmp_path / "data" / "1")

    assert {path: data for path, data in everything(work).items() if ".git/" not in path} == files
    assert not half.exists()


def test_what_is_committed_meanwhile_is_seen_by_no_branch(
    calls: GitCalls, project: Path, tmp_path: Path
) -> None:
    base, _ = frozen(calls, project, tmp_path / "data")
    before = git(project, "status", "--porcelain"), git(project, "rev-parse", "HEAD")
    git(project, "checkout", "-q", "-b", "later")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "later")

    work = workspace(base, tmp_path / "data" / "1")

    assert (git(work, "status", "--porcelain"), git(work, "rev-parse", "HEAD")) == before
    assert git(work, "branch", "--list", "later") == ""


def test_a_branch_that_changed_nothing_is_the_base(
    calls: GitCalls, project: Path, tmp_path: Path
) -> None:
    base, commit = frozen(calls, project, tmp_path / "data")
    work = workspace(base, tmp_path / "data" / "1")
    (work / "a.txt").write_text("other\n")
    (work / "a.txt").write_text("changed\n")  # the same bytes at another time

    touched = base.results.capture(work, tmp_path, commit, {}, "branch-1")
    work = workspace(base, tmp_path / "data" / "2")
    left = base.results.capture(work, tmp_path, commit, {}, "branch-2")

    assert left.commit == commit
    assert (left.tree, left.changed) == (touched.tree, touched.changed)


def test_a_folder_without_a_repository_is_copied_whole(calls: GitCalls, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "a").write_text("a\n")
    (folder / "empty").mkdir()
    base, commit = frozen(calls, folder, tmp_path / "data")

    work = workspace(base, tmp_path / "data" / "1")

    assert everything(work) == everything(folder)
    assert (work / "empty").is_dir()
    assert not (work / ".git").exists()
    (work / "deep" / "er" / "a").write_text("b\n")
    done = base.results.capture(work, tmp_path, commit, {}, "branch-1")
    assert done.changed == (("deep/er/a", "change"),)


def test_a_home_folder_the_root_and_our_own_are_no_projects(tmp_path: Path) -> None:
    own = tmp_path / "own"
    for folder in (Path("/"), tmp_path, own, own / "sessions"):
        with pytest.raises(UsageError):
            must_be_project(folder, tmp_path, (own,))
    must_be_project(tmp_path / "project", tmp_path, (own,))


def test_a_change_of_the_same_size_within_the_second_of_the_base_is_seen(
    calls: GitCalls, tmp_path: Path
) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    now = time.time_ns()
    for number in range(20):
        (folder / f"{number}.txt").write_text("two\n")
        os.utime(folder / f"{number}.txt", ns=(now, now))
    base, commit = frozen(calls, folder, tmp_path / "data")
    os.utime(base.results.index, ns=(now + 1, now + 1))
    work = workspace(base, tmp_path / "data" / "1")
    for number in range(20):
        (work / f"{number}.txt").write_text("new\n")
        os.utime(work / f"{number}.txt", ns=(now + 2, now + 2))
    time.sleep(1.1)

    done = base.results.capture(work, tmp_path / "data" / "1", commit, {}, "branch-1")

    assert len(done.changed) == 20


def test_a_file_that_cannot_be_copied_is_named_as_a_person_knows_it(tmp_path: Path) -> None:
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text("one\n")

    with pytest.raises(FileExistsError, match=r"File exists: 'a\.txt'$"):
        copy_paths(tmp_path / "here", tmp_path / "there", [b"a.txt"])
