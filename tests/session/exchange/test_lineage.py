"""Parents and children by fork, over moved files, missing files and circles."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.session.exchange.lineage import ancestors, descendants
from agentsh.session.format.codec import encode_header
from agentsh.session.format.entries import Header, SessionId
from agentsh.session.store.store import Store

CWD = "/home/user/project"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "sessions")


def made(store: Store, session: str, parent: Path | None = None, *, day: int = 1) -> Path:
    time = f"2026-01-{day:02d}T00:00:00.000Z"
    path = store.path_for(CWD, time, session)
    path.parent.mkdir(parents=True, exist_ok=True)
    header = Header(SessionId(session), time, CWD, parent_session=str(parent) if parent else None)
    path.write_bytes(encode_header(header))
    return path


def names(path: Path, store: Store) -> list[tuple[str | None, bool]]:
    return [(a.id, a.is_missing) for a in ancestors(path, store)]


def below(path: Path, store: Store) -> list[tuple[str, int]]:
    return [(d.row.id, d.depth) for d in descendants(path, store.rows())]


def test_parents_the_nearest_first_and_children_below(store: Store) -> None:
    root = made(store, "root")
    one = made(store, "one", root, day=2)
    two = made(store, "two", root, day=3)
    deep = made(store, "deep", one, day=4)

    assert names(deep, store) == [("one", False), ("root", False)]
    assert below(root, store) == [("one", 0), ("deep", 1), ("two", 0)]
    assert below(two, store) == []
    assert names(root, store) == []


def test_a_missing_parent_ends_the_line(store: Store) -> None:
    root = made(store, "root")
    child = made(store, "child", root, day=2)
    root.unlink()

    assert names(child, store) == [("root", True)]


def test_a_parent_whose_folder_moved_is_found_by_the_id_in_its_name(store: Store) -> None:
    root = made(store, "root")
    child = made(store, "child", root, day=2)
    moved = store.root / "--elsewhere--" / root.name
    moved.parent.mkdir()
    root.rename(moved)

    assert [a.path for a in ancestors(child, store)] == [moved]
    assert below(moved, store) == [("child", 0)]


def test_a_circle_ends(store: Store) -> None:
    one = made(store, "one")
    two = made(store, "two", one)
    made(store, "one", two)

    assert names(one, store) == [("two", False)]
    assert below(one, store) == [("two", 0)]
