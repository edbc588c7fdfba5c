"""A session: what was appended is there, in memory and on the disk, whatever happens between."""

from __future__ import annotations

import gc
import json
from pathlib import Path

import pytest

from agentsh.errors import (
    EntryNotFoundError,
    RefusedError,
    SessionLockedError,
    SessionNotFoundError,
    UnsupportedVersionError,
)
from agentsh.session.file.session import new_session, open_session
from agentsh.session.format.codec import encode_header
from agentsh.session.format.entries import (
    Custom,
    EntryId,
    MessageBody,
    ModelChange,
)
from agentsh.session.format.factcodec import decode_fact
from agentsh.session.format.facts import Navigated, Origin
from tests.session.builders import said, user
from tests.session.disks import CountingDisk, around
from tests.session.talks import HEADER, facts, made_session, talk, texts


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions" / "s.jsonl"


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
    made_session(path, "one", "two")

    with open_session(path, write=False, around=around()) as session:
        assert texts(session.branch()) == ["one", "about one", "two", "about two"]
        assert session.notices == ()
        assert session.header == HEADER


def test_a_session_in_memory_is_like_one_in_a_file() -> None:
    session = new_session(None, HEADER, around=around())
    first, *_ = talk(session, "one")
    session.move(first.id, "tree")

    assert session.path is None
    assert session.saved
    assert texts(session.branch()) == ["one"]
    assert json.loads(session.raw(first.id))["id"] == first.id


def test_opening_and_looking_writes_nothing(path: Path) -> None:
    made_session(path, "one")
    before = path.read_bytes()

    for write in (False, True):
        with open_session(path, write=write, around=around()) as session:
            session.branch()
            _ = session.tree
            session.resolve("leaf~1")
        assert path.read_bytes() == before
        assert list(path.parent.iterdir()) == [path]


def test_the_first_append_of_a_resumed_session_says_that_it_was_opened(path: Path) -> None:
    made_session(path, "one")
    with open_session(path, write=True, around=around()) as session:
        talk(session, "two")
        talk(session, "three")
        kinds = facts(session.branch())

    turn = ["TurnStarted", "TurnEnded"]
    assert kinds == ["Origin", *turn, "Opened", *turn, *turn]


def test_old_bytes_stay_the_beginning_of_the_file(path: Path) -> None:
    made_session(path, "one")
    before = path.read_bytes()
    with open_session(path, write=True, around=around()) as session:
        first = session.branch().entries[2].id
        session.label(first, "here")
        session.rename("a name")
        session.move(first, "tree")

    assert path.read_bytes().startswith(before)


def test_reading_is_no_licence_to_write(path: Path) -> None:
    made_session(path, "one")

    with open_session(path, write=False, around=around()) as session, pytest.raises(RefusedError):
        session.append(ModelChange("p", "m"))


def test_of_a_session_that_nobody_holds_any_more_no_file_stays_open_or_locked(path: Path) -> None:
    made_session(path, "one")
    gc.collect()
    before = len(list(Path("/dev/fd").iterdir()))
    session = open_session(path, write=True)
    session.append(MessageBody(said("x")))
    session.barrier()
    del session
    gc.collect()

    assert len(list(Path("/dev/fd").iterdir())) == before
    open_session(path, write=True).close()


def test_a_second_writer_is_refused_and_a_reader_is_not(path: Path) -> None:
    made_session(path, "one")
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
    made_session(path, "one")
    data = path.read_bytes().replace(b'"version":3', f'"version":{version}'.encode())
    path.write_bytes(data)

    with open_session(path, write=True, around=around()) as session:
        assert texts(session.branch()) == ["one", "about one"]
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
    first, *_ = made_session(path, "one", "two")
    with open_session(path, write=True, around=around()) as session:
        left = session.leaf
        moved = session.move(first.id, "tree")

    assert moved.parent == first.id
    with open_session(path, write=False, around=around()) as session:
        assert session.leaf == moved.id
        assert texts(session.live()) == ["one"]
        assert isinstance(moved.body, Custom)
        fact = decode_fact(moved.body)
        assert isinstance(fact, Navigated)
        # the opening of this writer was the leaf that was left
        assert fact.origin != left


def test_moving_before_the_first_entry_begins_a_second_root(path: Path) -> None:
    made_session(path, "one")
    with open_session(path, write=True, around=around()) as session:
        session.move(None, "tree")
        session.append(MessageBody(user("anew")))
        session.barrier()
        assert texts(session.branch()) == ["anew"]

    with open_session(path, write=False, around=around()) as session:
        assert len(session.tree.roots) == 2
        assert texts(session.branch(repaired=False)) == ["anew"]


def test_each_entry_follows_the_leaf_or_the_place_that_was_gone_to(path: Path) -> None:
    with new_session(path, HEADER, around=around()) as session:
        first, _ = talk(session, "one")
        side = session.append(MessageBody(user("side")), parent=first.id)
        after = session.append(MessageBody(said("more")))
        session.barrier()

        assert (side.parent, after.parent) == (first.id, side.id)
        assert session.tree.path(session.leaf)[-3:] == (first.id, side.id, after.id)
        assert session.tree.children(first.id)[-1] == side.id


def test_an_unknown_target_is_refused_before_anything_is_written(path: Path) -> None:
    made_session(path, "one")
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
    made_session(path, "one")
    with new_session(None, HEADER, around=around()) as probe:
        talk(probe, "one", "two", "three")
        future = list(probe.tree)[6:9]
    # another program took the very ids that would come next
    for each in future:
        line = {"type": "label", "id": each, "parentId": None, "timestamp": "t", "targetId": "x"}
        path.write_bytes(path.read_bytes() + json.dumps(line).encode() + b"\n")

    with open_session(path, write=True, around=around()) as session:
        talk(session, "two", "three")
        ids = [entry.id for entry in session.entries()]
    assert len(ids) == len(set(ids))


def test_lines_in_pieces_are_the_lines_one_by_one(path: Path) -> None:
    made_session(path, "one", "two", "three")
    with open_session(path, write=True, around=around()) as session:
        session.label(talk(session, "four")[0].id, "here")
        session.append(ModelChange("p", "waiting"))
        ids = [entry.id for entry in session.branch().entries]
        for some in (ids, ids[2:9], ids[::2], ids[::-1], ids[:0]):
            pieces = b"".join(session.lines(some))
            assert pieces == b"".join(session.raw(i) + b"\n" for i in some)
        assert len([p for p in session.lines(ids[:8]) if p]) == 1
        session.barrier()


# ---- words -----------------------------------------------------------------------------------


def test_an_entry_is_found_by_each_of_its_words(path: Path) -> None:
    first, answer, second, last = made_session(path, "one", "two")
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
    made_session(path, "one")

    with open_session(path, write=False) as session, pytest.raises(EntryNotFoundError):
        session.resolve(word)


def test_a_word_that_names_several_says_which(path: Path) -> None:
    first, answer = made_session(path, "one")
    with open_session(path, write=True, around=around()) as session:
        session.label(first.id, "same")
        session.label(answer.id, "same")

        with pytest.raises(EntryNotFoundError, match=f"{first.id}, {answer.id}"):
            session.resolve("same")
