"""What each log promises, whatever is behind it (R37): a file, memory, an older file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.session.file.converted import ConvertedLog
from agentsh.session.file.disk import Disk
from agentsh.session.file.log import SessionLog
from agentsh.session.file.memory_log import MemoryLog
from agentsh.session.file.reading import Log
from agentsh.session.format.migrate import convert

OLD = b'{"type":"session","id":"old","timestamp":"t","cwd":"/p"}\n'


def new_file(folder: Path) -> Log:
    return SessionLog.create(folder / "new.jsonl", disk=Disk())


def old_file(folder: Path) -> Log:
    (folder / "old.jsonl").write_bytes(convert(OLD))
    return SessionLog.open(folder / "old.jsonl", disk=Disk())


def older_file(folder: Path) -> Log:
    (folder / "older.jsonl").write_bytes(OLD)
    original = SessionLog.open(folder / "older.jsonl", disk=Disk())
    return ConvertedLog(original, version=1, disk=Disk())


def empty_memory(folder: Path) -> Log:
    return MemoryLog()


def filled_memory(folder: Path) -> Log:
    return MemoryLog(convert(OLD))


LOGS = [new_file, old_file, older_file, empty_memory, filled_memory]


@pytest.fixture(params=LOGS, ids=lambda make: make.__name__)
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Log]:
    opened: Log = request.param(tmp_path)
    yield opened
    opened.close()


def whole(log: Log) -> bytes:
    return log.read(0, log.size)


def test_a_commit_says_where_its_bytes_begin(log: Log) -> None:
    start = log.size

    assert [log.commit(b"one\n", durable=False), log.commit(b"two\n", durable=True)] == [
        start,
        start + 4,
    ]
    assert log.size == start + 8


def test_what_was_committed_can_be_read_at_once(log: Log) -> None:
    before = whole(log)
    log.commit(b"one\n", durable=False)

    assert whole(log) == before + b"one\n"


def test_what_was_there_stays_before_what_is_added(log: Log) -> None:
    before = whole(log)
    for line in (b"one\n", b"\xff\x00\n", "zwölf\n".encode()):
        log.commit(line, durable=True)

    assert log.read(0, len(before)) == before
    assert log.read(len(before), log.size) == b"one\n\xff\x00\n" + "zwölf\n".encode()


def test_a_range_beyond_the_end_gives_what_there_is(log: Log) -> None:
    start = log.commit(b"one\ntwo\n", durable=True)

    assert log.read(start + 4, start + 4000) == b"two\n"
    assert log.read(log.size, log.size + 10) == b""
    assert log.read(start + 3, start + 3) == b""


def test_reading_moves_nothing(log: Log) -> None:
    start = log.commit(b"one\n", durable=True)
    size = log.size
    log.read(0, 2)

    assert (log.size, log.commit(b"two\n", durable=True)) == (size, size)
    assert log.read(start, log.size) == b"one\ntwo\n"


def test_closing_ends_it_also_where_nothing_was_written(log: Log) -> None:
    log.close()


@pytest.mark.parametrize("make", LOGS)
@given(pieces=st.lists(st.binary(min_size=1, max_size=20), max_size=8), cut=st.integers(0, 200))
def test_any_batches_come_back_as_one_text(
    make: Callable[[Path], Log],
    tmp_path_factory: pytest.TempPathFactory,
    pieces: list[bytes],
    cut: int,
) -> None:
    log = make(tmp_path_factory.mktemp("log"))
    try:
        before = whole(log)
        starts = [log.commit(piece, durable=False) for piece in pieces]
        text = before + b"".join(pieces)

        assert whole(log) == text
        assert log.read(min(cut, len(text)), len(text)) == text[cut:]
        assert [
            text[start:][: len(piece)] for start, piece in zip(starts, pieces, strict=True)
        ] == (pieces)
    finally:
        log.close()


@pytest.mark.parametrize("make", [new_file, old_file, older_file])
def test_what_was_durable_is_read_by_the_next_one(
    make: Callable[[Path], SessionLog | ConvertedLog], tmp_path: Path
) -> None:
    log = make(tmp_path)
    log.commit(b"one\n", durable=True)
    said = whole(log)
    log.close()

    again = SessionLog.open(log.path, disk=Disk())
    assert whole(again) == said
    again.close()
