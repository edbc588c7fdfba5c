"""A session: what was appended is there, in memory and on the disk, whatever happens between."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentsh.errors import (
    EntryNotFoundError,
    RefusedError,
    SessionChangedError,
    SessionLockedError,
    SessionNotFoundError,
    SessionNotSavedError,
    UnsupportedVersionError,
)
from agentsh.session.codec import encode_header
from agentsh.session.entries import (
    Branch,
    Custom,
    Entry,
    EntryId,
    Header,
    MessageBody,
    ModelChange,
    SessionId,
)
from agentsh.session.factcodec import decode_fact
from agentsh.session.facts import Navigated, Origin, TurnEnded, TurnStarted
from agentsh.session.session import Session, new_session, open_session
from tests.session.disks import CountingDisk, FaultyDisk, around
from tests.session.made import said, user

HEADER = Header(SessionId("01a2-4000-5e551011"), "2026-01-01T00:00:00.000Z", "/home/user/p")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions" / "s.jsonl"


def _talk(session: Session, *texts: str) -> list[Entry]:
    """Closed turns of a prompt and an answer."""
    made = []
    for text in texts:
        start = session.append(TurnStarted(1))
        made.append(session.append(MessageBody(user(text))))
        made.append(session.append(MessageBody(said(f"about {text}"))))
        session.append(TurnEnded(start.id, "completed"))
    session.barrier()
    return made


def _made(path: Path, *texts: str) -> list[Entry]:
    with new_session(path, HEADER, around=around()) as session:
        return _talk(session, *texts)


def _texts(branch: Branch) -> list[str]:
    return [
        entry.body.message.content[0].text  # type: ignore[union-attr]
        for entry in branch.entries
        if isinstance(entry.body, MessageBody)
    ]


def _facts(branch: Branch) -> list[str]:
    facts = [decode_fact(e.body) for e in branch.entries if isinstance(e.body, Custom)]
    return [type(fact).__name__ for fact in facts]


# ---- beginning and opening -------------------------------------------------------------------


def test_a_new_session_leaves_nothing_behind_before_its_first_barrier(path: Path) -> None:
    session = new_session(path, HEADER, around=around())
    session.append(ModelChange("p", "m"))

    before = (path.parent.exists(), session.saved)
    session.barrier()
    assert before == (False, False)
    assert (path.exists(), session.saved) == (True, True)
    session.close()


def test_a_new_file_is_written_in_one_write_and_begins_with_its_origin(path: Path) -> None:
    disk = CountingDisk()
    with new_session(path, HEADER, around=around(disk)) as session:
        session.append(ModelChange("p", "m"))
        disk.order.clear()
        session.barrier()

    # the first write is the lock's
    assert disk.order == ["folder", "write", "write", "sync", "folder"]
    lines = path.read_bytes().split(b"\n")
    assert lines[0] + b"\n" == encode_header(HEADER)
    origin = open_session(path, write=False).branch().entries[0]
    assert origin.parent is None
    assert isinstance(origin.body, Custom)
    fact = decode_fact(origin.body)
    assert isinstance(fact, Origin)
    assert (fact.session_id, fact.origin) == (HEADER.id, "user")


def test_what_was_said_is_there_after_reopening(path: Path) -> None:
    _made(path, "one", "two")

    with open_session(path, write=False, around=around()) as session:
        assert _texts(session.branch()) == ["one", "about one", "two", "about two"]
        assert session.notices == ()
        assert session.header == HEADER


def test_a_session_in_memory_is_like_one_in_a_file() -> None:
    session = new_session(None, HEADER, around=around())
    first, *_ = _talk(session, "one")
    session.move(first.id, "tree")

    assert session.path is None
    assert session.saved
    assert _texts(session.branch()) == ["one"]
    assert json.loads(session.raw(first.id))["id"] == first.id


def test_opening_and_looking_writes_nothing(path: Path) -> None:
    _made(path, "one")
    before = path.read_bytes()

    for write in (False, True):
        with open_session(path, write=write, around=around()) as session:
            session.branch()
            _ = session.tree
            session.resolve("leaf~1")
        assert path.read_bytes() == before
        assert list(path.parent.iterdir()) == [path]


def test_the_first_append_of_a_resumed_session_says_that_it_was_opened(path: Path) -> None:
    _made(path, "one")
    with open_session(path, write=True, around=around()) as session:
        _talk(session, "two")
        _talk(session, "three")
        kinds = _facts(session.branch())

    turn = ["TurnStarted", "TurnEnded"]
    assert kinds == ["Origin", *turn, "Opened", *turn, *turn]


def test_old_bytes_stay_the_beginning_of_the_file(path: Path) -> None:
    _made(path, "one")
    before = path.read_bytes()
    with open_session(path, write=True, around=around()) as session:
        first = session.branch().entries[2].id
        session.label(first, "here")
        session.rename("a name")
        session.move(first, "tree")

    assert path.read_bytes().startswith(before)


def test_reading_is_no_licence_to_write(path: Path) -> None:
    _made(path, "one")

    with open_session(path, write=False, around=around()) as session, pytest.raises(RefusedError):
        session.append(ModelChange("p", "m"))


def test_a_second_writer_is_refused_and_a_reader_is_not(path: Path) -> None:
    _made(path, "one")
    link = path.with_name("link.jsonl")
    link.symlink_to(path)
    with open_session(path, write=True, around=around()):
        for name in (path, link):
            with pytest.raises(SessionLockedError):
                open_session(name, write=True, around=around())
        open_session(path, write=False, around=around()).close()


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"text\n", b"{}\n", b'{"type":"message","id":"a"}\n', b"\x00" * 9]
)
def test_what_is_no_session_is_refused_and_stays_as_it_is(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)

    with pytest.raises(SessionNotFoundError, match="not a session file"):
        open_session(path, write=True, around=around())
    assert path.read_bytes() == data
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("version", [4, 9])
def test_a_newer_version_is_readable_and_never_appended_to(path: Path, version: int) -> None:
    _made(path, "one")
    data = path.read_bytes().replace(b'"version":3', f'"version":{version}'.encode())
    path.write_bytes(data)

    with open_session(path, write=True, around=around()) as session:
        assert _texts(session.branch()) == ["one", "about one"]
        with pytest.raises(UnsupportedVersionError, match=f"version {version}"):
            session.append(ModelChange("p", "m"))
    assert path.read_bytes() == data


def test_a_required_fact_of_a_later_version_forbids_appending(path: Path) -> None:
    with new_session(path, HEADER, around=around()) as session:
        session.append(Custom("agentsh.future", {"v": 1, "required": True}))

    with (
        open_session(path, write=True, around=around()) as session,
        pytest.raises(UnsupportedVersionError, match=r"agentsh\.future"),
    ):
        session.append(ModelChange("p", "m"))


# ---- the leaf --------------------------------------------------------------------------------


def test_a_move_survives_reopening_and_is_the_last_line(path: Path) -> None:
    first, *_ = _made(path, "one", "two")
    with open_session(path, write=True, around=around()) as session:
        left = session.leaf
        moved = session.move(first.id, "tree")

    assert moved.parent == first.id
    with open_session(path, write=False, around=around()) as session:
        assert session.leaf == moved.id
        assert _texts(session.live()) == ["one"]
        assert isinstance(moved.body, Custom)
        fact = decode_fact(moved.body)
        assert isinstance(fact, Navigated)
        # the opening of this writer was the leaf that was left
        assert fact.origin != left


def test_moving_before_the_first_entry_begins_a_second_root(path: Path) -> None:
    _made(path, "one")
    with open_session(path, write=True, around=around()) as session:
        session.move(None, "tree")
        session.append(MessageBody(user("anew")))
        session.barrier()
        assert _texts(session.branch()) == ["anew"]

    with open_session(path, write=False, around=around()) as session:
        assert len(session.tree.roots) == 2
        assert _texts(session.branch(repaired=False)) == ["anew"]


def test_each_entry_follows_the_leaf_or_the_place_that_was_gone_to(path: Path) -> None:
    with new_session(path, HEADER, around=around()) as session:
        first, _ = _talk(session, "one")
        side = session.append(MessageBody(user("side")), parent=first.id)
        after = session.append(MessageBody(said("more")))
        session.barrier()

        assert (side.parent, after.parent) == (first.id, side.id)
        assert session.tree.path(session.leaf)[-3:] == (first.id, side.id, after.id)
        assert session.tree.children(first.id)[-1] == side.id


def test_an_unknown_target_is_refused_before_anything_is_written(path: Path) -> None:
    _made(path, "one")
    before = path.read_bytes()
    with open_session(path, write=True, around=around()) as session:
        with pytest.raises(EntryNotFoundError):
            session.move(EntryId("nope"), "tree")
        with pytest.raises(EntryNotFoundError):
            session.label(EntryId("nope"), "x")
        with pytest.raises(EntryNotFoundError):
            session.append(ModelChange("p", "m"), parent=EntryId("nope"))
    assert path.read_bytes() == before


def test_ids_are_unique_and_do_not_clash_with_those_of_others(path: Path) -> None:
    _made(path, "one")
    with new_session(None, HEADER, around=around()) as probe:
        _talk(probe, "one", "two", "three")
        future = list(probe.tree)[6:9]
    # another program took the very ids that would come next
    for each in future:
        line = {"type": "label", "id": each, "parentId": None, "timestamp": "t", "targetId": "x"}
        path.write_bytes(path.read_bytes() + json.dumps(line).encode() + b"\n")

    with open_session(path, write=True, around=around()) as session:
        _talk(session, "two", "three")
        ids = [entry.id for entry in session.entries()]
    assert len(ids) == len(set(ids))


# ---- words -----------------------------------------------------------------------------------


def test_an_entry_is_found_by_each_of_its_words(path: Path) -> None:
    first, answer, second, last = _made(path, "one", "two")
    with open_session(path, write=True, around=around()) as session:
        session.label(first.id, "start")

        assert session.resolve(first.id) == first.id
        assert session.resolve(first.id[:6]) == first.id
        assert session.resolve("start") == first.id
        assert session.resolve("leaf") == session.leaf
        assert session.resolve("root") is None
        assert session.resolve(f"{last.id}~1") == second.id
        assert session.resolve("leaf~1") == last.id
        assert session.resolve("leaf~3") == answer.id
        assert session.resolve("start~0") == first.id


@pytest.mark.parametrize("word", ["", "nope", "leaf~99", "nope~1", "~1", "root~1"])
def test_a_word_that_names_nothing_is_refused(path: Path, word: str) -> None:
    _made(path, "one")

    with open_session(path, write=False) as session, pytest.raises(EntryNotFoundError):
        session.resolve(word)


def test_a_word_that_names_several_says_which(path: Path) -> None:
    first, answer = _made(path, "one")
    with open_session(path, write=True, around=around()) as session:
        session.label(first.id, "same")
        session.label(answer.id, "same")

        with pytest.raises(EntryNotFoundError, match=f"{first.id}, {answer.id}"):
            session.resolve("same")


# ---- what fails ------------------------------------------------------------------------------


def test_entries_of_a_failed_barrier_wait_in_order_and_are_saved_later(path: Path) -> None:
    disk = FaultyDisk()
    session = new_session(path, HEADER, around=around(disk))
    _talk(session, "one")
    before = path.read_bytes()
    disk.room = 10
    with pytest.raises(SessionNotSavedError):
        _talk(session, "two")

    assert path.read_bytes() == before
    assert not session.saved
    assert _texts(session.branch()) == ["one", "about one", "two", "about two"]

    disk.room = None
    _talk(session, "three")
    session.close()
    with open_session(path, write=False, around=around()) as again:
        assert _texts(again.branch()) == [
            *("one", "about one", "two", "about two", "three", "about three")
        ]
        assert again.notices == ()


def test_entries_of_a_failed_barrier_can_be_withdrawn_and_leave_no_ghost(path: Path) -> None:
    disk = FaultyDisk()
    session = new_session(path, HEADER, around=around(disk))
    _talk(session, "one")
    leaf = session.leaf
    disk.room = 0
    with pytest.raises(SessionNotSavedError):
        _talk(session, "two")
    taken = session.withdraw()

    assert [type(entry.body) for entry in taken] == [Custom, MessageBody, MessageBody, Custom]
    assert (session.leaf, session.saved) == (leaf, True)
    assert _texts(session.branch()) == ["one", "about one"]
    assert all(entry.id not in session.tree for entry in taken)

    disk.room = None
    _talk(session, "three")
    session.close()
    with open_session(path, write=False, around=around()) as again:
        assert _texts(again.branch()) == ["one", "about one", "three", "about three"]
        stamps = [entry.stamp.line for entry in again.entries() if entry.stamp is not None]
        assert stamps == list(range(1, len(stamps) + 1))


def test_a_failed_first_barrier_withdrawn_is_as_if_nothing_had_been(path: Path) -> None:
    disk = FaultyDisk(room=0)
    session = new_session(path, HEADER, around=around(disk))
    with pytest.raises(SessionNotSavedError):
        _talk(session, "one")
    session.withdraw()
    disk.room = None
    _talk(session, "two")
    session.close()

    with open_session(path, write=False, around=around()) as again:
        assert _facts(again.branch())[0] == "Origin"
        assert _texts(again.branch()) == ["two", "about two"]


def test_a_failed_sync_takes_back_what_was_flushed_and_keeps_it_queued(path: Path) -> None:
    disk = FaultyDisk()
    session = new_session(path, HEADER, around=around(disk))
    _talk(session, "one")
    before = path.read_bytes()
    session.append(MessageBody(user("two")))
    session.flush()
    assert path.read_bytes() != before
    disk.broken = {"sync"}
    with pytest.raises(SessionNotSavedError):
        session.barrier()
    assert path.read_bytes() == before

    disk.broken = set()
    session.append(MessageBody(said("about two")))
    session.close()
    with open_session(path, write=False, around=around()) as again:
        assert _texts(again.branch(repaired=False))[2:] == ["two", "about two"]


def test_a_foreign_append_is_seen_and_nothing_is_written_after_it(path: Path) -> None:
    _made(path, "one")
    session = open_session(path, write=True, around=around())
    with path.open("ab") as file:
        file.write(b'{"type":"label","id":"f","parentId":null,"timestamp":"t","targetId":"x"}\n')
    before = path.read_bytes()

    with pytest.raises(SessionChangedError):
        session.rename("x")
    with pytest.raises(SessionChangedError):
        session.close()
    assert path.read_bytes() == before


def test_the_lock_is_let_go_even_if_the_last_save_fails(path: Path) -> None:
    disk = FaultyDisk()
    session = new_session(path, HEADER, around=around(disk))
    _talk(session, "one")
    session.append(ModelChange("p", "m"))
    disk.room = 0
    with pytest.raises(SessionNotSavedError):
        session.close()

    open_session(path, write=True, around=around()).close()
