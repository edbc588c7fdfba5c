"""The repair of an interrupted turn: shown by readers, written by the next writer, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.session.file.session import new_session, open_session
from agentsh.session.format.entries import (
    Branch,
    Compaction,
    Custom,
    Header,
    MessageBody,
    SessionId,
)
from agentsh.session.format.factcodec import decode_fact
from agentsh.session.format.facts import Opened, TurnEnded, TurnStarted
from agentsh.session.health.repair import TOOL_NOT_STARTED
from tests.session.builders import result, said, user
from tests.session.disks import around

HEADER = Header(SessionId("01a2-4000-5e551011"), "2026-01-01T00:00:00.000Z", "/home/user/p")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions" / "s.jsonl"


def _facts(branch: Branch) -> list[str]:
    facts = [decode_fact(e.body) for e in branch.entries if isinstance(e.body, Custom)]
    return [type(fact).__name__ for fact in facts]


def _interrupted(path: Path) -> None:
    with new_session(path, HEADER, around=around()) as session:
        session.append(TurnStarted(1))
        session.append(MessageBody(user("go")))
        session.append(MessageBody(said("calling", ("c1", "bash"), ("c2", "bash"))))
        session.append(MessageBody(result("c1")))
        session.barrier()


def test_an_interrupted_turn_is_shown_closed_and_closed_by_the_next_writer(path: Path) -> None:
    _interrupted(path)
    before = path.read_bytes()
    with open_session(path, write=False, around=around()) as session:
        shown = session.live()
    assert path.read_bytes() == before

    with open_session(path, write=True, around=around()) as session:
        assert session.live() == shown
        session.rename("later")
        written = session.live()
    added = written.entries[len(shown.entries) - 3 :]
    assert [decode_fact(e.body).__class__ for e in added if isinstance(e.body, Custom)] == [
        Opened,
        TurnEnded,
        *(decode_fact(e.body).__class__ for e in shown.entries[-1:] if isinstance(e.body, Custom)),
    ]
    codes = [e.stamp.code for e in added if e.stamp is not None and e.stamp.code is not None]
    assert codes == [TOOL_NOT_STARTED]

    with open_session(path, write=True, around=around()) as session:
        session.rename("again")
        assert _facts(session.branch()).count("Repaired") == 1


def test_a_turn_that_another_process_runs_is_not_shown_as_interrupted(path: Path) -> None:
    with new_session(path, HEADER, around=around()) as writer:
        writer.append(TurnStarted(1))
        writer.append(MessageBody(user("go")))
        writer.barrier()
        with open_session(path, write=False, around=around()) as reader:
            assert reader.live() == reader.live(repaired=False)
    with open_session(path, write=False, around=around()) as reader:
        assert reader.live() != reader.live(repaired=False)


def test_a_turn_of_this_process_is_never_repaired_under_it(path: Path) -> None:
    with new_session(path, HEADER, around=around()) as session:
        session.append(TurnStarted(1))
        session.append(MessageBody(said("calling", ("c1", "bash"))))

        assert _facts(session.live()) == ["Origin", "TurnStarted"]


def test_a_compaction_that_keeps_nothing_names_itself(path: Path) -> None:
    with new_session(path, HEADER, around=around()) as session:
        entry = session.append(Compaction("all of it", None, 100))

    assert isinstance(entry.body, Compaction)
    assert entry.body.first_kept == entry.id
