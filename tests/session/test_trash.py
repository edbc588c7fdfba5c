"""The trash: out of the way and back, with what belongs to it, over nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.errors import RefusedError
from agentsh.session.trash import remove, removed, restore, spools_of
from tests.session.test_archive import HEADER, NOW, session


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

    restore(one, path)

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
        restore(one, path)

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
