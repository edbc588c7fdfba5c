"""A session on a disk that fails: nothing is lost, nothing overtakes, no ghost stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.errors import (
    SessionChangedError,
    SessionNotSavedError,
)
from agentsh.session.file.session import new_session, open_session
from agentsh.session.format.entries import (
    Custom,
    MessageBody,
    ModelChange,
)
from tests.session.builders import said, user
from tests.session.disks import FaultyDisk, around
from tests.session.talks import HEADER, facts, made_session, talk, texts


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions" / "s.jsonl"


def test_entries_of_a_failed_barrier_wait_in_order_and_are_saved_later(path: Path) -> None:
    disk = FaultyDisk()
    session = new_session(path, HEADER, around=around(disk))
    talk(session, "one")
    before = path.read_bytes()
    disk.room = 10
    with pytest.raises(SessionNotSavedError):
        talk(session, "two")

    assert path.read_bytes() == before
    assert not session.saved
    assert texts(session.branch()) == ["one", "about one", "two", "about two"]

    disk.room = None
    talk(session, "three")
    session.close()
    with open_session(path, write=False, around=around()) as again:
        assert texts(again.branch()) == [
            *("one", "about one", "two", "about two", "three", "about three")
        ]
        assert again.notices == ()


def test_entries_of_a_failed_barrier_can_be_withdrawn_and_leave_no_ghost(path: Path) -> None:
    disk = FaultyDisk()
    session = new_session(path, HEADER, around=around(disk))
    talk(session, "one")
    leaf = session.leaf
    disk.room = 0
    with pytest.raises(SessionNotSavedError):
        talk(session, "two")
    taken = session.withdraw()

    assert [type(entry.body) for entry in taken] == [Custom, MessageBody, MessageBody, Custom]
    assert (session.leaf, session.saved) == (leaf, True)
    assert texts(session.branch()) == ["one", "about one"]
    assert all(entry.id not in session.tree for entry in taken)

    disk.room = None
    talk(session, "three")
    session.close()
    with open_session(path, write=False, around=around()) as again:
        assert texts(again.branch()) == ["one", "about one", "three", "about three"]
        stamps = [entry.stamp.line for entry in again.entries() if entry.stamp is not None]
        assert stamps == list(range(1, len(stamps) + 1))


def test_a_failed_first_barrier_withdrawn_is_as_if_nothing_had_been(path: Path) -> None:
    disk = FaultyDisk(room=0)
    session = new_session(path, HEADER, around=around(disk))
    with pytest.raises(SessionNotSavedError):
        talk(session, "one")
    session.withdraw()
    disk.room = None
    talk(session, "two")
    session.close()

    with open_session(path, write=False, around=around()) as again:
        assert facts(again.branch())[0] == "Origin"
        assert texts(again.branch()) == ["two", "about two"]


def test_a_failed_sync_takes_back_what_was_flushed_and_keeps_it_queued(path: Path) -> None:
    disk = FaultyDisk()
    session = new_session(path, HEADER, around=around(disk))
    talk(session, "one")
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
        assert texts(again.branch(repaired=False))[2:] == ["two", "about two"]


def test_a_foreign_append_is_seen_and_nothing_is_written_after_it(path: Path) -> None:
    made_session(path, "one")
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
    talk(session, "one")
    session.append(ModelChange("p", "m"))
    disk.room = 0
    with pytest.raises(SessionNotSavedError):
        session.close()

    open_session(path, write=True, around=around()).close()
