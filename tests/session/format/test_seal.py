"""Seals: a chain through the durable lines that a writer can go on with from the tail."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.session.file.session import Session, new_session, open_session
from agentsh.session.format.codec import decode_line
from agentsh.session.format.entries import Entry, Header, MessageBody, SessionId
from agentsh.session.format.linehead import read_line_stamp
from agentsh.session.format.lines import forward_lines
from agentsh.session.format.seal import SealChain
from tests.session.builders import said, user
from tests.session.disks import CountingDisk, QuickDisk, around

HEADER = Header(SessionId("01a2-5e551011"), "2026-01-01T00:00:00.000Z", "/p")
FOREIGN = b'{"type":"label","id":"%d","parentId":null,"timestamp":"t","targetId":"x"}\n'


def _talk(session: Session, count: int = 1) -> None:
    for _ in range(count):
        session.append(MessageBody(user("x")))
        session.append(MessageBody(said("y")))
        session.barrier()


def _bad_seals(data: bytes) -> tuple[int, list[int]]:
    """How many seals there are, and the lines (from 0) whose seal does not hold."""
    chain = SealChain()
    count = 0
    bad = []
    for number, line in enumerate(forward_lines(lambda a, b: data[a:b], 0, len(data))):
        raw = data[line.start : line.end + line.is_ended]
        mark = read_line_stamp(raw)
        if mark is None or mark.seal is None:
            chain.feed(raw)
            continue
        count += 1
        if not chain.check_line(raw, mark):
            bad.append(number)
    return count, bad


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    with new_session(path, HEADER, around=around()) as session:
        _talk(session, 3)
    return path


def test_the_last_line_of_a_durable_batch_carries_a_seal_that_holds(path: Path) -> None:
    data = path.read_bytes()

    assert _bad_seals(data) == (3, [])
    sealed = [b'"h":"' in line for line in data.split(b"\n")[:-1]]
    assert sealed == [False, False, False, True, False, True, False, True]


def test_a_later_writer_goes_on_with_the_chain_over_foreign_lines_and_torn_ones(
    path: Path,
) -> None:
    for tail in (FOREIGN % 1, FOREIGN % 2 + FOREIGN % 3, b'{"type":"mess', b""):
        with path.open("ab") as file:
            file.write(tail)
        with open_session(path, write=True, around=around()) as session:
            _talk(session)

    count, bad = _bad_seals(path.read_bytes())
    assert (count, bad) == (7, [])
    numbers = [
        (number, entry.stamp.line)
        for number, line in enumerate(path.read_bytes().split(b"\n"))
        if isinstance(entry := decode_line(line), Entry) and entry.stamp is not None
    ]
    assert all(number == stamped for number, stamped in numbers)


def test_a_file_of_another_program_is_sealed_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        b'{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/"}\n' + FOREIGN % 1
    )
    with open_session(path, write=True, around=around()) as session:
        _talk(session)
    data = path.read_bytes()

    assert _bad_seals(data) == (1, [])
    assert _bad_seals(data.replace(b'"cwd":"/"', b'"cwd":"."'))[1] == [4]


def test_every_change_of_one_byte_before_the_last_seal_is_found(path: Path) -> None:
    data = path.read_bytes()
    last = data.rindex(b'"h":"') + 5 + 16
    for at in range(0, last, 3):
        changed = bytes([data[at] ^ 1])
        if b"\n" in (changed, data[at : at + 1]):
            continue  # the numbers tell of lines that were joined or split
        count, bad = _bad_seals(data[:at] + changed + data[at + 1 :])
        assert bad or count < 3


def test_going_on_reads_the_file_from_the_last_seal_only(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with new_session(path, HEADER, around=around(QuickDisk())) as session:
        for _ in range(3000):
            session.append(MessageBody(user("x" * 1000)))
        _talk(session)
    from agentsh.session.file.log import SessionLog
    from agentsh.session.file.writing import EndSearch

    disk = CountingDisk()
    log = SessionLog.open(path, disk=disk)
    position = EndSearch(log.read, log.size, HEADER.id).position()

    assert position.line == path.read_bytes().count(b"\n")
    assert disk.bytes_read < 100_000


def test_a_stamp_inside_a_string_is_no_stamp() -> None:
    line = b'{"type":"custom","data":"\\",\\"ash\\":{\\"s\\":\\"x\\",\\"n\\":1}}"}}'
    nested = b'{"type":"custom","data":{"a":1,"ash":{"s":"x","n":1}}}'

    assert read_line_stamp(line) is None
    assert read_line_stamp(nested) is None
