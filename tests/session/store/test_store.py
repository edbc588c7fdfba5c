"""Which session a word means, where sessions belong, what a list shows."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from agentsh.errors import (
    AmbiguousSessionError,
    RefusedError,
    SessionNotFoundError,
    UsageError,
)
from agentsh.session.format.entries import ModelChange
from agentsh.session.store.catalog import Index
from agentsh.session.store.folders import SUFFIX
from agentsh.session.store.store import Store
from tests.session.sealed import write_session

ONE = "aaaa1111-0000-4000-8000-000000000001"
TWO = "aaaa2222-0000-4000-8000-000000000002"
CWD = "/home/user/project"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "sessions")


def made(
    store: Store, session: str, *, cwd: str = CWD, day: int = 1, name: str | None = None
) -> Path:
    time = f"2026-01-{day:02d}T00:00:00.000Z"
    path = store.path_for(cwd, time, session)
    return write_session(path, session=session, cwd=cwd, time=time, name=name)


def test_a_full_id_a_prefix_and_a_path_name_a_session(store: Store) -> None:
    path = made(store, ONE)
    made(store, TWO, cwd="/elsewhere")

    assert store.find(ONE, "/anywhere") == path
    assert store.find("aaaa1", "/anywhere") == path
    assert store.find(str(path), "/anywhere") == path
    assert store.find(f"./{path.name}", str(path.parent)) == path
    assert store.find(path.name, str(path.parent)) == path


def test_several_matches_are_named(store: Store) -> None:
    made(store, ONE)
    made(store, TWO)

    with pytest.raises(AmbiguousSessionError) as caught:
        store.find("aaaa", CWD)

    assert caught.value.matches == (ONE, TWO)
    assert ONE in str(caught.value)
    assert TWO in str(caught.value)


def test_a_whole_id_wins_over_one_that_goes_on(store: Store) -> None:
    path = made(store, "abc")
    made(store, "abc-more")

    assert store.find("abc", CWD) == path


def test_a_file_of_another_name_is_found_by_its_header(store: Store) -> None:
    path = made(store, ONE)
    odd = path.with_name("planted.jsonl")
    path.rename(odd)

    assert store.find("aaaa1", CWD) == odd


NO_SESSION = (
    *("zzzz", "", "..", ".", "../../etc/passwd", "/etc/passwd", "%2e%2e%2fx", "a" * 300),
    *("x\0y", "x/\0", "a/" * 3000, "./nope.jsonl", "nope.jsonl", "~nobody-here/x"),
    *("*", "[a-z]", "last"),
)


@pytest.mark.parametrize("word", NO_SESSION)
def test_what_is_not_there_is_said(store: Store, word: str) -> None:
    made(store, ONE)

    with pytest.raises(SessionNotFoundError):
        store.find(word, "/another/folder")


def test_a_path_to_what_is_no_session_is_refused(store: Store, tmp_path: Path) -> None:
    notes = tmp_path / "notes.jsonl"
    notes.write_text("dear diary\n")

    with pytest.raises(SessionNotFoundError, match="not a session"):
        store.find(str(notes), CWD)
    with pytest.raises(SessionNotFoundError, match="not a regular file"):
        store.find(str(tmp_path), CWD)
    with pytest.raises(SessionNotFoundError, match="no such file"):
        store.find(str(tmp_path / "gone.jsonl"), CWD)


def test_folders_that_encode_alike_do_not_share_sessions(store: Store) -> None:
    one = made(store, ONE, cwd="/a-b/c")
    two = made(store, TWO, cwd="/a/b-c")

    assert one.parent == two.parent
    assert store.latest("/a-b/c") == one
    assert store.find("last", "/a/b-c") == two
    assert [row.path for row in store.rows("/a/b-c")] == [two]


def test_the_last_one_is_that_of_the_newest_conversation(store: Store) -> None:
    old = made(store, ONE, day=1)
    new = made(store, TWO, day=2)
    os.utime(old, (2**31, 2**31))
    with old.open("ab") as file:
        file.write(
            b'{"type":"session_info","id":"f","parentId":null,'
            b'"timestamp":"2027-01-01T00:00:00.000Z","name":"renamed later"}\n'
        )

    assert store.latest(CWD) == new
    assert [row.path for row in store.rows(CWD)] == [new, old]
    assert store.rows(CWD)[1].name == "renamed later"


def test_u20_a_session_in_which_nothing_was_said_does_not_hide_the_last_one(store: Store) -> None:
    talk = made(store, ONE, day=1)
    named = made(store, TWO, day=2)
    header = named.read_bytes().splitlines(keepends=True)[0]
    named.write_bytes(
        header + b'{"type":"session_info","id":"f","parentId":null,'
        b'"timestamp":"2027-01-01T00:00:00.000Z","name":"to do"}\n'
    )

    assert store.latest(CWD) == talk
    talk.unlink()
    assert store.latest(CWD) == named


def test_foreign_files_are_passed_over(store: Store) -> None:
    path = made(store, ONE)
    path.with_name("a.jsonl").write_bytes(b"\0" * 1000)
    path.with_name("b.jsonl").write_bytes(b"")
    path.with_name("c.jsonl").mkdir()
    path.with_name("d.jsonl").symlink_to("/nowhere")

    assert [row.id for row in store.rows()] == [ONE]
    assert store.latest(CWD) == path


def test_a_store_that_is_not_there_is_empty(store: Store) -> None:
    assert store.rows() == []
    assert store.latest(CWD) is None
    assert not store.root.exists()


def test_rows_are_the_same_with_an_index(store: Store, tmp_path: Path) -> None:
    for day, session in enumerate((ONE, TWO), 1):
        made(store, session, day=day, name=f"day {day}")
    indexed = Store(store.root, summaries=Index(tmp_path / "index.db").summaries)

    assert indexed.rows() == indexed.rows() == store.rows()
    assert [row.name for row in store.rows()] == ["day 2", "day 1"]


def test_a_flat_store_keeps_its_files_together_and_still_tells_folders_apart(
    tmp_path: Path,
) -> None:
    store = Store(tmp_path / "flat", flat=True)
    one = made(store, ONE, cwd="/a")
    two = made(store, TWO, cwd="/b")

    assert one.parent == two.parent == store.root
    assert [row.path for row in store.rows("/a")] == [one]
    assert store.latest("/b") == two
    assert Store(tmp_path / "flat").latest("/b") == two


def test_a_relinked_session_belongs_to_its_new_folder_only(store: Store) -> None:
    path = made(store, ONE, cwd="/old")
    before = path.read_bytes()

    store.relink(path, "/new")

    assert path.read_bytes() == before
    assert store.latest("/new") == path
    assert store.latest("/old") is None
    assert [(row.path, row.cwd) for row in store.rows()] == [(path, "/new")]
    assert [row.cwd for row in store.rows("/new")] == ["/new"]
    assert store.rows("/old") == []
    assert store.cwd_of(ONE, "/old") == "/new"
    overlay = store.root / "relinked.json"
    assert stat.S_IMODE(overlay.stat().st_mode) == 0o600
    assert [p.name for p in store.root.iterdir() if p.is_file()] == ["relinked.json"]

    store.relink(path, "/old")

    assert store.latest("/old") == path
    assert store.latest("/new") is None


def test_a_relinked_file_is_found_where_it_went(store: Store) -> None:
    path = made(store, ONE, cwd="/old")
    store.relink(path, "/new")
    moved = store.root / "--elsewhere--" / path.name
    moved.parent.mkdir()
    path.rename(moved)

    assert store.latest("/new") == moved


def test_a_damaged_overlay_counts_as_none(store: Store) -> None:
    path = made(store, ONE, cwd="/old")
    store.relink(path, "/new")
    (store.root / "relinked.json").write_text("{")

    assert store.latest("/old") == path


def test_an_overlay_does_not_lead_out_of_the_store(store: Store, tmp_path: Path) -> None:
    path = made(store, ONE, cwd="/old")
    store.relink(path, "/new")
    outside = write_session(tmp_path / f"outside{SUFFIX}", session=TWO, cwd="/x")
    overlay = store.root / "relinked.json"
    file = str(path.relative_to(store.root))
    overlay.write_text(overlay.read_text().replace(file, f"../{outside.name}"))

    assert store.latest("/new") is None


def test_only_sessions_of_the_store_are_relinked(store: Store, tmp_path: Path) -> None:
    outside = write_session(tmp_path / "s.jsonl")
    made(store, ONE)

    with pytest.raises(RefusedError):
        store.relink(outside, "/new")
    with pytest.raises(SessionNotFoundError):
        store.relink(tmp_path / "none.jsonl", "/new")


def test_a_session_is_created_lazily_where_the_rule_says(store: Store) -> None:
    parent = made(store, ONE)
    session = store.create(CWD, id="my.session", parent=parent)
    assert session.path is not None
    assert not session.path.exists()

    session.append(ModelChange("p", "m"))
    session.barrier()

    assert session.path.parent == parent.parent
    assert store.find("my.se", "/") == session.path
    assert store.rows(CWD)[0].parent == str(parent)
    session.close()


@pytest.mark.parametrize("id_", ["", "..", "../x", "a b", "a" * 200])
def test_an_id_that_could_be_a_path_makes_no_session(store: Store, id_: str) -> None:
    with pytest.raises(UsageError):
        store.create(CWD, id=id_)


def test_two_new_sessions_of_one_moment_have_ids_of_their_own(store: Store) -> None:
    assert len({store.new_id() for _ in range(200)}) == 200
