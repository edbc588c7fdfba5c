from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from agentsh.abort import Abort
from agentsh.errors import ToolAbortedError, ToolFailedError
from agentsh.tools.undo import shadow, undo
from agentsh.tools.undo.checkpoint import snapshot
from agentsh.tools.undo.shadow import Shadow, carried
from agentsh.tools.undo.undo import Change
from tests.support.project import Project


def _git(folder: Path, *words: str) -> str:
    words = ("-c", "user.name=n", "-c", "user.email=e@x", *words)
    return subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def test_going_back_restores_bytes_modes_links_and_removals(project: Project) -> None:
    project.put("keep.txt", b"a\r\nb\r\n")
    project.put("run.sh", "#!/bin/sh\n").chmod(0o755)
    project.put("secret", "s").chmod(0o600)
    project.put("gone/deep/f", "f")
    project.put("odd \n\udcff name".encode("utf-8", "surrogateescape").decode("latin-1"), "x")
    (project.tree / "link").symlink_to("keep.txt")
    before = project.state()
    checkpoint = project.snap()
    project.put("keep.txt", "changed")
    (project.tree / "run.sh").chmod(0o644)
    (project.tree / "secret").unlink()
    (project.tree / "link").unlink()
    project.put("link", "a file now")
    (project.tree / "gone/deep/f").unlink()
    (project.tree / "gone/deep").rmdir()
    (project.tree / "gone").rmdir()
    project.put("gone", "a file where a folder was")
    project.put("new/deep/er", "made later")
    changed = project.state()
    restored = project.back(checkpoint.commit)
    assert project.state() == before
    assert not (project.tree / "new").exists()
    assert not restored.skipped
    project.back(restored.saved)
    assert project.state() == changed


def test_a_state_without_changes_is_the_commit_that_there_is(project: Project) -> None:
    project.put("f", "x")
    assert project.snap() == project.snap()


def test_an_empty_folder_is_a_state_too(project: Project) -> None:
    empty = project.snap()
    project.put("f", "x")
    project.back(empty.commit)
    assert project.state() == {}


def test_the_users_own_later_edits_are_conflicts_and_stay(project: Project) -> None:
    project.put("mine", "1")
    project.put("ours", "1")
    before = project.snap()
    project.put("mine", "agent's")
    project.put("ours", "agent's")
    after = project.snap()
    project.put("mine", "user's")
    shown = undo.preview_restore(project.shadow, before.commit, last=after.commit)
    assert [(c.path, c.kind, c.conflict is None) for c in shown.changes] == [
        ("mine", "change", False),
        ("ours", "change", True),
    ]
    restored = project.back(before.commit, last=after.commit)
    assert [c.path for c in restored.skipped] == ["mine"]
    assert (project.tree / "mine").read_text() == "user's"
    assert (project.tree / "ours").read_text() == "1"
    project.back(before.commit, last=after.commit, overwrite=True)
    assert (project.tree / "mine").read_text() == "1"


def test_ignored_and_large_files_are_counted_and_never_touched(project: Project) -> None:
    project.put(".gitignore", "build/\n*.log\n")
    project.put("big", b"x" * 6_000_000)
    before = project.snap()
    assert (before.left_out, before.large) == (1, ("big",))
    project.put("build/out", "o")
    project.put("a.log", "l")
    project.put("f", "x")
    assert project.snap().left_out == 3
    project.back(before.commit)
    assert sorted(project.state()) == [".gitignore", "a.log", "big", "build/out"]


def test_a_file_that_grew_large_is_in_the_way_and_stays(project: Project) -> None:
    project.put("f", "small")
    before = project.snap()
    project.put("f", b"x" * 6_000_000)
    restored = project.back(before.commit)
    assert [(c.path, bool(c.conflict)) for c in restored.skipped] == [("f", True)]
    assert (project.tree / "f").stat().st_size == 6_000_000


def test_an_ignored_file_in_a_folder_that_must_go_stays_with_it(project: Project) -> None:
    project.put(".gitignore", "*.log\n")
    project.put("x", "a file")
    before = project.snap()
    (project.tree / "x").unlink()
    project.put("x/made", "m")
    project.put("x/a.log", "only here")
    restored = project.back(before.commit)
    assert [c.path for c in restored.skipped] == ["x"]
    assert (project.tree / "x/a.log").read_text() == "only here"


def test_the_users_repository_and_index_stay_as_they_are(project: Project) -> None:
    _git(project.tree, "init", "-q")
    project.put(".gitattributes", "* text=auto eol=lf\n*.bin filter=evil\n")
    project.put("f", b"a\r\n")
    project.put("x.bin", b"\0\1")
    _git(project.tree, "config", "filter.evil.clean", "touch ../ran; cat")
    _git(project.tree, "config", "core.fsmonitor", "touch ../ran; false")
    _git(project.tree, "-c", "core.fsmonitor=false", "add", "f")
    (project.tree.parent / "ran").unlink(missing_ok=True)
    repository = sorted((str(p), p.stat().st_mtime_ns) for p in (project.tree / ".git").rglob("*"))
    before = project.snap()
    project.put("f", b"changed\n")
    project.back(before.commit)
    assert (project.tree / "f").read_bytes() == b"a\r\n"
    assert not (project.tree.parent / "ran").exists()
    assert repository == sorted(
        (str(p), p.stat().st_mtime_ns) for p in (project.tree / ".git").rglob("*")
    )


def test_nested_repositories_are_left_out(project: Project) -> None:
    (project.tree / "sub").mkdir()
    _git(project.tree / "sub", "init", "-q")
    project.put("sub/f", "x")
    project.put("g", "y")
    before = project.snap()
    assert before.left_out == 1
    project.put("sub/f", "changed")
    project.back(before.commit)
    assert (project.tree / "sub/f").read_text() == "changed"


def test_rules_of_enclosing_folders_and_of_the_user_hold(
    project: Project, clean_environment: Path
) -> None:
    top = project.tree
    _git(top, "init", "-q")
    project.put(".gitignore", "/sub/made\n*.tmp\n")
    (top / ".git/info/exclude").write_text("notes\n")
    mine = clean_environment / "mine"
    mine.write_text("*.mine\n")
    (clean_environment / ".gitconfig").write_text(f"[core]\nexcludesFile = {mine}\n")
    for name in ("made", "a.tmp", "notes", "b.mine", "kept"):
        project.put(f"sub/{name}", "x")
    inner = Project(top / "sub", project.store)
    before = inner.snap()
    assert before.left_out == 4
    (top / "sub/kept").unlink()
    (top / "sub/made").unlink()
    inner.back(before.commit)
    assert (top / "sub/kept").exists()
    assert not (top / "sub/made").exists()


def test_a_snapshot_cut_short_is_completed_by_the_next(project: Project) -> None:
    project.put("f", "1")
    one = project.snap()
    project.put("f", "2")
    words = [f"--git-dir={project.store}", f"--work-tree={project.tree}", "add", "-A"]
    _git(project.tree, *words)
    (project.store / "index.lock").touch()
    two = project.snap()
    assert undo.changes_between(project.shadow, one.commit, two.commit) == (Change("f", "change"),)
    made = undo.patch(project.shadow, one.commit, two.commit)
    assert "-1\n" in made
    assert "+2\n" in made


def test_a_store_inside_the_folder_does_not_record_itself(tmp_path: Path) -> None:
    project = Project(tmp_path, tmp_path / "home" / "store")
    project.put("f", "x")
    project.snap()
    assert project.snap() == project.snap()


def test_without_git_it_is_said(project: Project, tmp_path: Path) -> None:
    with pytest.raises(ToolFailedError, match="git is not installed"):
        snapshot(
            Shadow(project.store, project.tree, {"PATH": str(tmp_path), "HOME": str(tmp_path)})
        )


def test_rules_are_carried_into_a_folder_below() -> None:
    rules = ["*.log", "/a/b", "/x", "a/c/", "!a/keep", "*/d", "**/deep/e", "docs/"]
    assert carried(rules, ("a",)) == ["*.log", "/b", "/c/", "!/keep", "/d", "**/deep/e", "docs/"]
    assert carried(rules, ()) == [*rules[:1], "/a/b", "/x", "/a/c/", "!/a/keep", "/*/d", *rules[6:]]


def test_what_was_there_unrecorded_is_not_taken_for_new_and_deleted(project: Project) -> None:
    project.put(".gitignore", "secret\nbuild/\n")
    project.put("secret", "key")
    project.put("build/out", "1")
    project.put("big", b"x" * (6 << 20))
    before = project.snap()
    project.put(".gitignore", "")
    project.put("big", "small now")
    project.put("new", "x")
    after = project.snap()

    done = project.back(before.commit, last=after.commit)

    assert {c.path for c in done.done} == {".gitignore", "new"}
    assert {c.path for c in done.skipped} == {"secret", "build/out", "big"}
    assert (project.tree / "secret").read_text() == "key"


def test_paths_that_somebody_else_changed_earlier_are_conflicts_too(project: Project) -> None:
    project.put("a", "1")
    project.put("b", "1")
    before = project.snap()
    project.put("a", "2")
    project.put("b", "2")
    after = project.snap()

    done = undo.restore_files(project.shadow, before.commit, last=after.commit, foreign={"a"})

    assert [c.path for c in done.skipped] == ["a"]
    assert (project.tree / "b").read_text() == "1"


def test_all_of_the_store_is_the_users_alone(project: Project) -> None:
    project.put("a", "1").chmod(0o600)
    old = os.umask(0o022)
    try:
        first = project.snap()
        project.put("a", "2")
        project.back(first.commit)
    finally:
        os.umask(old)

    places = [project.store.parent, project.store, *project.store.rglob("*")]
    assert [str(p) for p in places if stat.S_IMODE(p.stat().st_mode) & 0o077] == []


def test_a_stopped_git_is_an_abort(project: Project) -> None:
    abort = Abort()
    abort.set()

    with pytest.raises(ToolAbortedError):
        snapshot(Shadow(project.store, project.tree, os.environ, abort=abort))
    assert project.snap().commit


@pytest.mark.parametrize("lock", ["config.lock", "index.lock", "HEAD.lock", "refs/heads/x.lock"])
def test_a_killed_gits_lock_does_not_last(project: Project, lock: str) -> None:
    project.put("f", "1")
    project.snap()
    (project.store / "info/attributes").unlink()  # killed while the store was made
    (project.store / lock).touch()
    project.put("f", "2")

    assert project.snap() == project.snap()


def test_a_store_that_cannot_be_written_is_no_crash(project: Project) -> None:
    project.store.parent.mkdir()
    project.store.write_text("in the way")

    with pytest.raises(ToolFailedError, match="Not a directory"):
        project.snap()


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes"])
def test_a_pipe_in_the_place_of_a_rules_file_does_not_hold_git_up(
    project: Project, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shadow, "_QUIET", 0.2)
    project.put("a", "1")
    os.mkfifo(project.tree / name)

    with pytest.raises(ToolFailedError, match=r"git waits .* pipe"):
        project.snap()

    (project.tree / name).unlink()
    assert project.snap().commit


@pytest.mark.parametrize("place", [".git/info/exclude", ".gitignore", "../.gitignore"])
def test_a_rules_file_that_we_read_ourselves_is_read_only_if_it_is_regular(
    project: Project, place: str
) -> None:
    top = project.tree.parent if place.startswith("..") else project.tree
    (top / ".git/info").mkdir(parents=True)
    inner = Project(project.tree / "sub", project.store)
    inner.put("a", "1")
    os.mkfifo(project.tree / place)

    assert inner.snap().commit
