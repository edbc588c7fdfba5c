"""Repositories as people have them: each is a base, and its workspaces have a git that works.

What others' tools stumble over: a bare repository with worktrees, a submodule with settings of its
own, somebody else's folder, a repository that a branch makes, what came after a revision.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentsh.errors import UsageError
from agentsh.explore.workspace.basing import (
    FrozenBase,
    freeze_folder,
    lay_out_workspace,
    must_be_repository,
)
from agentsh.explore.workspace.capture import ResultStore
from agentsh.explore.workspace.earlier import at_revision
from agentsh.explore.workspace.gitcalls import GitCalls, find_git
from agentsh.explore.workspace.listing import repository_of
from tests.explore.workspace.test_basing import git


@pytest.fixture
def calls(tmp_path: Path) -> GitCalls:
    return find_git(os.environ, tmp_path)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "base")
    return folder


def workspace(
    calls: GitCalls, folder: Path, tmp_path: Path, revision: str | None = None
) -> tuple[FrozenBase, str, Path]:
    """A base, its commit, and a workspace whose git can be asked outside of the view."""
    root = repository_of(calls, folder) or folder
    earlier = None
    if revision is not None:
        earlier = at_revision(calls, root, git(folder, "rev-parse", revision).strip())
    base, _, commit = freeze_folder(
        calls, folder, tmp_path / "data/base/0", tmp_path / "data/store.git",
        brought=(), lent=(), own=(), branches=1, earlier=earlier,
    )  # fmt: skip
    branch = tmp_path / "data/1"
    assert base.common is not None
    lay_out_workspace(base.base_folder, branch, base.common)
    return base, commit, branch / "work"


def test_a_worktree_of_a_bare_repository_has_a_git_with_files(
    calls: GitCalls, project: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "-q", "--bare", "project", "layout/.bare")
    git(tmp_path / "layout/.bare", "worktree", "add", "-q", "../main")

    _, _, work = workspace(calls, tmp_path / "layout/main", tmp_path)

    (work / "new").write_text("x")
    assert git(work, "status", "--porcelain") == "?? new\n"


def test_a_submodule_with_settings_of_its_worktree_is_a_project_like_any(
    calls: GitCalls, project: Path, tmp_path: Path
) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    allow = ("-c", "protocol.file.allow=always")
    git(outer, *allow, "submodule", "--quiet", "add", str(project), "sub")
    where = git(outer / "sub", "config", "core.worktree").strip()
    git(outer / "sub", "config", "extensions.worktreeConfig", "true")
    git(outer / "sub", "config", "--worktree", "core.worktree", where)
    git(outer / "sub", "config", "--unset", "core.worktree")

    _, _, work = workspace(calls, outer / "sub", tmp_path)

    assert git(work, "rev-parse", "--show-toplevel").strip() == str(work)
    assert git(work, "status", "--porcelain") == ""


def test_at_a_revision_nothing_that_came_later_is_named(
    calls: GitCalls, project: Path, tmp_path: Path
) -> None:
    git(project, "tag", "v1")
    (project / "a.txt").write_text("the answer\n")
    git(project, "commit", "-q", "-a", "-m", "later")
    git(project, "tag", "-a", "-m", "t", "v2")
    git(project, "branch", "fix")
    git(project, "pack-refs", "--all")

    _, _, work = workspace(calls, project, tmp_path, "HEAD~1")

    assert git(work, "log", "--all", "--format=%s") == "base\n"
    assert git(work, "reflog", "--all") == ""
    assert git(work, "tag") == "v1\n"
    assert git(work, "status", "--porcelain") == ""
    assert git(project, "tag") == "v1\nv2\n"


def test_what_a_branch_makes_as_a_repository_comes_back_as_files(
    calls: GitCalls, project: Path, tmp_path: Path
) -> None:
    base, commit, work = workspace(calls, project, tmp_path)
    nest = work / "app"
    (nest / "deep").mkdir(parents=True)
    (nest / ".gitignore").write_text("out/\n")
    (nest / "out").mkdir()
    (nest / "out" / "built").write_text("x")
    (nest / "main.py").write_text("x")
    git(nest, "init", "-q")
    git(nest, "add", "-A")
    git(nest, "commit", "-q", "-m", "made")
    (nest / "later.py").write_text("x")
    git(nest / "deep", "init", "-q")
    (nest / "deep" / "d.py").write_text("x")

    store = ResultStore(calls, base.results.store, base.results.index)
    captured = store.capture(work, tmp_path, commit, {}, "branch-1")

    assert [path for path, _ in captured.changed] == [
        "app/.gitignore", "app/deep/d.py", "app/later.py", "app/main.py",
    ]  # fmt: skip


def test_a_patch_for_json_loses_no_byte(calls: GitCalls, project: Path, tmp_path: Path) -> None:
    odd = os.fsdecode(b"odd\xff.txt")
    (project / "latin.txt").write_bytes(b"caf\xe9\n")
    (project / odd).write_bytes(b"one\n")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "latin")
    base, commit, work = workspace(calls, project, tmp_path)
    for name, data in (("latin.txt", b"caf\xe9!\n"), (odd, b"\xfe\n"), ("a.txt", b"one\r\ntwo")):
        (work / name).write_bytes(data)
    store = ResultStore(calls, base.results.store, base.results.index)
    captured = store.capture(work, tmp_path, commit, {}, "branch-1")

    patch = store.patch_text(commit, captured.commit)

    assert "+one\r\n+two\n\\ No newline" in patch
    (tmp_path / "p.diff").write_bytes(patch.encode("utf-8"))
    git(project, "apply", str(tmp_path / "p.diff"))
    for name in ("latin.txt", odd, "a.txt"):
        assert (project / name).read_bytes() == (work / name).read_bytes()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_anothers_repository_is_taken_where_ones_own_git_takes_it(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (project, *project.rglob("*")):
        os.lchown(path, 65534, 65534)
    settings = tmp_path / "gitconfig"
    settings.write_text("")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    calls = find_git(os.environ, project)

    with pytest.raises(UsageError, match="belongs to another user") as e:
        must_be_repository(calls, project, tmp_path / "home", ())

    assert "safe.directory" in str(e.value.hint)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text(f"[safe]\n\tdirectory = {project}\n")
    calls = find_git(os.environ, project)
    must_be_repository(calls, project, tmp_path / "home", ())
    _, _, work = workspace(calls, project, tmp_path)
    assert git(work, "log", "--format=%s") == "base\n"
