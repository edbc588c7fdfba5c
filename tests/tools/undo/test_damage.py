"""A store that a power cut or a full disk left behind is set aside, and undo goes on."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentsh.errors import ToolFailedError
from agentsh.tools.undo import restoring, undo
from agentsh.tools.undo.shadow import state_name
from agentsh.tools.undo.storefiles import is_hollow
from tests.support.project import Project


def objects(store: Path) -> list[Path]:
    found = [p for p in (store / "objects").rglob("*") if p.is_file()]
    return sorted(found, key=lambda p: (p.stat().st_mtime_ns, str(p)))


def spoil(place: Path, data: bytes = b"") -> None:
    place.chmod(0o600)
    place.write_bytes(data)


def all_objects(store: Path) -> None:
    for each in objects(store):
        spoil(each)


def newest_objects(store: Path) -> None:
    for each in objects(store)[-2:]:
        spoil(each, b"\0" * 50)


BELIEVED: dict[str, Callable[[Path], None]] = {
    "all objects": all_objects,
    "the newest objects": newest_objects,
    "ref": lambda store: spoil(store / "refs/heads/master", b"\0" * 41),
    "index": lambda store: spoil(store / "index", b"\0" * 200),
}
LAID_OUT: dict[str, Callable[[Path], None]] = {
    "HEAD": lambda store: spoil(store / "HEAD"),
    "config": lambda store: spoil(store / "config", b"\0" * 100),
    "attributes": lambda store: spoil(store / "info/attributes"),
    "gone": lambda store: (store / "info/attributes").unlink(),
}


@pytest.mark.parametrize("damage", BELIEVED.values(), ids=BELIEVED.keys())
def test_a_damaged_store_is_set_aside_once_and_states_go_on(
    project: Project, damage: Callable[[Path], None]
) -> None:
    project.put("f", "1")
    project.put("g", "1")
    project.snap()
    project.put("f", "2")
    project.snap()
    damage(project.store)
    project.put("f", "3")
    wanted = project.state()

    first = project.snap()
    second = project.snap()
    project.put("f", "4")
    project.put("g", "4")
    project.back(first.commit)

    assert (first.renewed, second.renewed) == (True, False)
    assert (project.store / "damaged-1/objects").is_dir()
    assert project.state() == wanted


def test_states_from_before_the_damage_are_had_as_far_as_they_can_be_read(
    project: Project,
) -> None:
    project.put("f", "1")
    old = project.snap()
    spoil(project.store / "index", b"\0" * 200)
    project.put("f", "2")
    assert project.snap().renewed

    project.back(old.commit)

    assert (project.tree / "f").read_text() == "1"


def test_a_state_that_cannot_be_read_is_said_and_nothing_is_touched(project: Project) -> None:
    project.put("f", "1")
    old = project.snap()
    all_objects(project.store)
    project.put("f", "2")
    project.snap()
    before = project.state()

    with pytest.raises(ToolFailedError, match="cannot be read"):
        project.back(old.commit)
    assert project.state() == before


@pytest.mark.parametrize("damage", LAID_OUT.values(), ids=LAID_OUT.keys())
def test_what_is_the_same_in_each_store_is_written_anew(
    project: Project, damage: Callable[[Path], None]
) -> None:
    project.put(".gitattributes", "*.txt text eol=lf\n")
    project.put("f.txt", b"a\r\n")
    old = project.snap()
    damage(project.store)
    project.put("f.txt", b"b\r\n")
    new = project.snap()
    project.put("f.txt", b"")

    for state, data in ((old, b"a\r\n"), (new, b"b\r\n")):
        project.back(state.commit)
        assert (project.tree / "f.txt").read_bytes() == data
    assert not new.renewed
    assert not list(project.store.glob("damaged-*"))


def test_one_content_that_is_gone_keeps_no_other_file_from_coming_back(project: Project) -> None:
    project.put("a", "only here")
    project.put("b", "1")
    old = project.snap()
    blob = project.shadow.look("rev-parse", f"{old.commit}:a").decode().strip()
    project.put("a", "2")
    project.put("b", "2")
    project.snap()
    (project.store / "objects" / blob[:2] / blob[2:]).unlink()

    done = project.back(old.commit)

    assert [(c.path, c.conflict) for c in done.failed] == [
        ("a", "what it was is no longer in the store of states")
    ]
    assert (project.tree / "a").read_text() == "2"
    assert (project.tree / "b").read_text() == "1"


def test_on_a_full_disk_each_file_is_old_or_new_and_the_next_try_does_the_rest(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_bytes, new_bytes = "1" * 5000, "2" * 5000
    for name in "abcdef":
        project.put(name, old_bytes)
    wanted = project.state()
    old = project.snap()
    for name in "abcdef":
        project.put(name, new_bytes)
    last = project.snap()
    room = [12_000]

    def write_some(fd: int, data: bytes) -> None:
        taken = data[: room[0]]
        os.write(fd, taken)
        room[0] -= len(taken)
        if len(taken) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(restoring, "write_all", write_some)
    first = project.back(old.commit, last=last.commit)
    texts = {(project.tree / name).read_text() for name in "abcdef"}
    monkeypatch.undo()
    second = project.back(old.commit, last=last.commit)

    assert [c.path for c in first.done] == ["a", "b"]
    assert {c.conflict for c in first.failed} == {"No space left on device"}
    assert texts == {old_bytes, new_bytes}
    assert (second.skipped, second.failed) == ((), ())
    assert project.state() == wanted


@pytest.mark.parametrize("name", ["--output=/x", "HEAD", "", "a" * 39, "A" * 40, "a" * 40 + "\n"])
def test_only_the_name_of_a_state_is_one(project: Project, name: str) -> None:
    project.put("f", "1")
    good = project.snap().commit
    assert state_name(good) == good
    for ask in (
        lambda: undo.preview_restore(project.shadow, name),
        lambda: undo.changes_between(project.shadow, good, name),
        lambda: undo.patch(project.shadow, name, good),
        lambda: undo.preview_restore(project.shadow, good, last=name),
    ):
        with pytest.raises(ToolFailedError, match="no state's name"):
            ask()


def test_a_lock_that_is_a_pipe_or_a_link_is_said_and_not_opened(
    project: Project, tmp_path: Path
) -> None:
    project.snap()
    lock, other = project.store / "agentsh.lock", tmp_path / "other"
    other.write_bytes(b"theirs")
    makers: tuple[Callable[[Path], None], ...] = (os.mkfifo, lambda p: p.symlink_to(other))
    for make in makers:
        lock.unlink()
        make(lock)

        with pytest.raises(ToolFailedError, match="Not a regular file"):
            project.snap()
    assert other.read_bytes() == b"theirs"


def test_a_pipe_in_the_place_of_what_git_wrote_is_damage(project: Project) -> None:
    project.put("f", "1")
    old = project.snap()
    blob = objects(project.store)[0]
    blob.unlink()
    os.mkfifo(blob)
    project.put("f", "2")

    assert is_hollow(blob)
    assert project.snap().commit != old.commit
