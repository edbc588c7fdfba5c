"""Leftovers are what nobody needs; sessions, archives and backups never are, however old."""

from __future__ import annotations

import os
from pathlib import Path

from agentsh.session.file.session import open_session
from agentsh.session.store.leftovers import Leftover, delete, leftovers
from tests.session.store.test_archive import session

DAY = 24 * 3600.0


def test_only_leftovers_are_found_and_only_they_go(tmp_path: Path) -> None:
    root, trash = tmp_path / "sessions", tmp_path / "trash"
    project = root / "--home-u--"
    project.mkdir(parents=True)
    (root / "--gone--").mkdir()
    old = trash / "2020-01-01T00-00-00-000Z_s-0"
    old.mkdir(parents=True)
    (old / "a.jsonl").write_text("x" * 10)
    fresh = trash / "2026-01-01T00-00-00-000Z_s-9"
    fresh.mkdir()
    path = session(project)
    keep = [path, path.with_name(path.name + ".v1.bak"), project / "b.jsonl.zst", root / "m.json"]
    for kept in keep[1:]:
        kept.write_text("kept")
    keep += [path.with_name(path.name[:-6] + ".d"), project / "b.d"]
    for kept in keep[-2:]:
        kept.mkdir()
    (project / "orphan.d").mkdir()
    (project / "orphan.d" / "a.spool").write_text("12345")
    (project / "dead.jsonl.lock").write_text('{"pid":999999999,"host":"x","boot":"y"}')
    host = os.uname().nodename
    (project / "dead.jsonl.lock").write_text(f'{{"pid":999999999,"host":"{host}","boot":"y"}}')
    (project / ".c.jsonl.1.new").write_text("half")
    for each in (project / ".c.jsonl.1.new", old, *keep):
        os.utime(each, (1_000_000_000, 1_000_000_000))
    now = fresh.stat().st_mtime + DAY

    found = leftovers(root, trash, now=now, trash_seconds=30 * DAY)

    assert found == [
        Leftover(project / ".c.jsonl.1.new", "draft that was never finished", 4),
        Leftover(root / "--gone--", "empty folder", 0),
        Leftover(
            project / "dead.jsonl.lock",
            "lock of a process that is gone",
            (project / "dead.jsonl.lock").stat().st_size,
        ),
        Leftover(old, "old trash", 10),
        Leftover(project / "orphan.d", "spools without their session", 5),
    ]
    assert list(delete(found)) == found
    assert not any(one.path.exists() for one in found)
    assert all(kept.exists() for kept in (*keep, fresh))


def test_the_lock_of_a_living_process_is_none(tmp_path: Path) -> None:
    path = session(tmp_path)

    with open_session(path, write=True):
        assert leftovers(tmp_path, tmp_path / "t", now=0, trash_seconds=0) == []
        lock = Leftover(Path(f"{path}.lock"), "lock of a process that is gone", 0)
        assert list(delete([lock])) == []
        assert lock.path.exists()


def test_a_folder_that_has_been_filled_since_stays(tmp_path: Path) -> None:
    folder = tmp_path / "--home--"
    folder.mkdir()
    found = leftovers(tmp_path, tmp_path / "t", now=0, trash_seconds=0)
    session(folder)

    assert [one.kind for one in found] == ["empty folder"]
    assert list(delete(found)) == []
    assert len(list(folder.iterdir())) == 1


def test_a_name_that_was_taken_for_a_file_which_never_came_is_one_until_something_comes(
    tmp_path: Path,
) -> None:
    root = tmp_path / "sessions"
    project = root / "--p--"
    project.mkdir(parents=True)
    names = [
        "2026-01-01T00-00-00-000Z_01a.jsonl",
        "2026-01-01T00-00-00-000Z_01b.jsonl.zst",
        "2026-01-01T00-00-00-000Z_01c.jsonl",
    ]
    for name in (*names, "of-somebody-else.jsonl"):
        (project / name).touch()
        os.utime(project / name, (1_000_000_000, 1_000_000_000))
    (project / "2026-01-01T00-00-00-000Z_01d.jsonl").touch()
    (project / "2026-01-01T00-00-00-000Z_01e.jsonl").symlink_to(names[0])
    now = (project / "2026-01-01T00-00-00-000Z_01d.jsonl").stat().st_mtime

    found = leftovers(root, tmp_path / "trash", now=now, trash_seconds=DAY)
    assert found == [Leftover(project / name, "name without a file", 0) for name in names]

    (project / names[2]).write_text("it came")
    assert list(delete(found)) == found[:2]
    assert (project / names[2]).read_text() == "it came"
