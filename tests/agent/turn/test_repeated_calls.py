"""A call that was made before is known, whatever the size of the file (R57)."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from agentsh.agent.events import Notice
from agentsh.agent.turn.repeated_calls import Repeat, Repeats
from agentsh.messages import ToolResultMessage
from agentsh.session.file.session import Session
from agentsh.session.format.entries import Custom, EntryId, MessageBody
from agentsh.session.format.facts import ToolStarted
from tests.agent.builders import facts, make_agent, path_of, reopen, run, start_session
from tests.session.builders import result
from tests.session.disks import CountingDisk, QuickDisk, around
from tests.support.scripted import Call, ScriptedProvider

LARGE = 65 << 20
KEY = "0123456789abcdef" * 2


class _QuickCountingDisk(QuickDisk, CountingDisk):
    pass


def _started(key: str) -> ToolStarted:
    return ToolStarted("c1", "bash", "{}", "exec", key)


def _pad(session: Session, size: int) -> None:
    """A few huge lines."""
    for _ in range(5):
        session.append(Custom("someone.else", "x" * (size // 5)))
    session.flush()


def _made(session: Session, key: str, *, is_error: bool = False) -> EntryId:
    """A call with its result; the result's entry."""
    start = session.append(_started(key))
    body = MessageBody(replace(result("c1"), is_error=is_error))
    done = session.append(body, sources=(start.id,))
    session.barrier()
    return done.id


def test_above_64_mib_a_call_that_was_done_on_another_branch_is_counted_and_said(
    tmp_path: Path,
) -> None:
    call = (Call("call_1", "bash", {"command": "echo x >> effects"}),)
    with start_session(tmp_path) as session:
        agent = make_agent(session, ScriptedProvider("hello", call, "done"), tmp_path)
        run(agent)
        beside = session.leaf
        run(agent)
        _pad(session, LARGE)
    with reopen(tmp_path) as session:
        agent = make_agent(session, ScriptedProvider(call, "done again"), tmp_path)
        agent.checkout(beside)
        warned = [e.text for e in run(agent) if isinstance(e, Notice)]
        starts = [f for f in facts(path_of(session)) if isinstance(f, ToolStarted)]

        assert session.path is not None
        assert session.path.stat().st_size > LARGE
        assert [w for w in warned if "runs again as it did before" in w] == warned != []
        assert [f.attempt for f in starts] == [2]


def test_the_file_is_read_once_for_calls_that_are_new(tmp_path: Path) -> None:
    with start_session(tmp_path) as session:
        _made(session, KEY)
        _pad(session, LARGE)
    disk = _QuickCountingDisk()
    with reopen(tmp_path, around(disk)) as session:
        before = disk.bytes_read
        repeats = Repeats(session)
        assert [repeats.take(f"{n:032x}") for n in range(9)] == [Repeat()] * 9

        assert LARGE < disk.bytes_read - before < LARGE * 1.01


def test_for_a_known_call_only_the_lines_that_tell_of_it_are_decoded(tmp_path: Path) -> None:
    with start_session(tmp_path) as session:
        done = _made(session, KEY)
        session.append(MessageBody(result("c1")))
        _made(session, KEY, is_error=True)
        session.append(MessageBody(result("c2")), sources=(done,))
        session.barrier()
    with reopen(tmp_path) as session:
        found = session.with_words(KEY.encode())

        assert Repeats(session).take(KEY) == Repeat(2, done)
        assert [type(entry.body) for entry in found] == [Custom, Custom]


def test_a_result_that_is_only_queued_counts_and_a_key_that_was_only_said_does_not(
    tmp_path: Path,
) -> None:
    with start_session(tmp_path) as session:
        start = session.append(_started(KEY))
        session.append(Custom("someone.else", {"key": "f" * 32}))
        session.flush()
        done = session.append(MessageBody(result("c1")), sources=(start.id,))
        assert isinstance(done.body, MessageBody)
        assert isinstance(done.body.message, ToolResultMessage)
        repeats = Repeats(session)

        assert repeats.take(KEY) == Repeat(1, done.id)
        assert repeats.take("f" * 32) == Repeat()
