"""The trash: out of the way and back, with what belongs to it, over nothing."""

from __future__ import annotations

import os
import resource
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentsh.errors import RefusedError, SessionNotSavedError
from agentsh.session.store.trash import remove, removed, restore_removed, spools_of
from tests.session.store.test_archive import HEADER, NOW, session


def test_a_session_comes_back_with_its_bytes_and_its_spools(tmp_path: Path) -> None:
    store, trash = tmp_path / "store", tmp_path / "trash"
    store.mkdir()
    trash.mkdir()
    path = session(store, b"more\n")
    spools_of(path).mkdir()
    (spools_of(path) / "a.spool").write_text("half an answer")
    before = path.read_bytes()

    remove(path, trash, now=NOW)

    assert list(store.iterdir()) == []
    [one] = removed(trash)
    assert (one.id, one.cwd, one.origin, one.when) == ("s-1", "/", path, NOW)

    restore_removed(one, path)

    assert path.read_bytes() == before
    assert (spools_of(path) / "a.spool").read_text() == "half an answer"
    assert list(trash.iterdir()) == []


def test_two_of_one_name_lie_side_by_side_the_later_one_first(tmp_path: Path) -> None:
    trash = tmp_path / "trash"
    trash.mkdir()
    for second in (1, 2):
        remove(session(tmp_path, b"x" * second), trash, now=f"2026-01-01T00:00:0{second}.000Z")

    assert [one.file.stat().st_size - len(HEADER) for one in removed(trash)] == [2, 1]


def test_restoring_overwrites_nothing(tmp_path: Path) -> None:
    trash = tmp_path / "trash"
    trash.mkdir()
    path = session(tmp_path)
    remove(path, trash, now=NOW)
    path.write_text("precious")
    [one] = removed(trash)

    with pytest.raises(RefusedError):
        restore_removed(one, path)

    assert path.read_text() == "precious"
    assert len(removed(trash)) == 1


def test_an_id_that_is_a_path_names_no_folder(tmp_path: Path) -> None:
    trash = tmp_path / "trash"
    trash.mkdir()
    path = tmp_path / "evil.jsonl"
    path.write_bytes(HEADER.replace(b'"s-1"', b'"../../evil"'))

    remove(path, trash, now=NOW)

    assert [p.name for p in trash.iterdir()] == ["2026-01-01T00-00-00-000Z_session"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["trash"]


def test_without_its_note_it_is_still_listed(tmp_path: Path) -> None:
    trash = tmp_path / "trash"
    trash.mkdir()
    one = remove(session(tmp_path), trash, now=NOW)
    (one.folder / "removed.json").unlink()

    assert [(r.id, r.origin) for r in removed(trash)] == [("s-1", None)]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    """A folder of another file system."""
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system here")
    folder = Path(tempfile.mkdtemp(dir=memory))
    yield folder
    shutil.rmtree(folder)


@contextmanager
def _no_file_above(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def _with_spools(folder: Path) -> Path:
    path = session(folder, b"x" * 5_000)
    spools_of(path).mkdir()
    (spools_of(path) / "a.spool").write_text("half an answer")
    return path


def _all(folder: Path) -> dict[str, bytes]:
    found = sorted(p for p in folder.rglob("*") if p.is_file())
    return {str(p.relative_to(folder)): p.read_bytes() for p in found}


def test_a_removal_that_fails_half_way_leaves_everything_where_it_was(
    tmp_path: Path, elsewhere: Path
) -> None:
    path = _with_spools(tmp_path)
    before = _all(tmp_path)

    with _no_file_above(1_000), pytest.raises(SessionNotSavedError):
        remove(path, elsewhere, now=NOW)

    assert (_all(tmp_path), list(elsewhere.iterdir())) == (before, [])
    [one] = [remove(path, elsewhere, now=NOW)]
    assert (_all(tmp_path), one.file.stat().st_size) == ({}, 5_000 + len(HEADER))


def test_a_restoring_that_fails_half_way_leaves_nothing_and_a_second_try_brings_it_back(
    tmp_path: Path, elsewhere: Path
) -> None:
    store = elsewhere / "store"
    store.mkdir()
    path = _with_spools(store)
    whole = _all(store)
    one = remove(path, tmp_path, now=NOW)

    with _no_file_above(1_000), pytest.raises(SessionNotSavedError):
        restore_removed(one, path)
    assert not [p for p in store.rglob("*") if p.name.endswith(".jsonl")]

    restore_removed(one, path)
    assert (_all(store), list(tmp_path.iterdir())) == (whole, [])


def test_a_restoring_that_was_killed_after_the_copy_is_ended_by_the_next(tmp_path: Path) -> None:
    trash = tmp_path / "trash"
    trash.mkdir()
    path = session(tmp_path)
    one = remove(path, trash, now=NOW)
    shutil.copy(one.file, path)

    restore_removed(one, path)

    assert (path.exists(), os.listdir(trash)) == (True, [])  # noqa: PTH208
