"""Where a writer goes on in a file, found at once or by a thread beside the reading of it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from agentsh.messages import Text, UserMessage
from agentsh.session.file.disk import Disk
from agentsh.session.file.log import SessionLog
from agentsh.session.file.memory_log import MemoryLog
from agentsh.session.file.session import open_session
from agentsh.session.file.writing import EndSearch
from agentsh.session.format.codec import encode_entry, encode_header
from agentsh.session.format.entries import Entry, EntryId, Header, MessageBody, SessionId, Stamp
from agentsh.session.health.verify import verify_file
from tests.session.disks import around

HEADER = Header(SessionId("01a2-5e551011"), "2026-01-01T00:00:00.000Z", "/p")
BLOCK = 1 << 22


def _line(number: int, text: str, stamp: Stamp | None = None) -> bytes:
    name, parent = EntryId(f"{number:08x}"), EntryId(f"{number - 1:08x}") if number else None
    body = MessageBody(UserMessage((Text(text),)))
    return encode_entry(Entry(name, parent, "2026-01-01T00:00:00.000Z", body, stamp))


def _foreign(size: int, *, ended: bool = True) -> bytes:
    """A file of that many bytes or a few more, in lines of a third of a block."""
    data = [encode_header(HEADER)]
    while sum(map(len, data)) < size:
        data.append(_line(len(data) - 1, "heron " * (BLOCK // 18)))
    return b"".join(data) if ended else b"".join(data)[:-1]


def _looked_for(data: bytes, *, beside: bool) -> tuple[int, str, bool]:
    search = EndSearch(MemoryLog(data).read, len(data), HEADER.id)
    if beside:
        search.begin()
    position = search.position()
    return position.line, position.chain.seal(), position.is_ended


def _with_mark(at: int) -> bytes:
    """One line of ours, its mark at that byte, and much more than an end behind it."""
    head = _foreign(at - BLOCK // 2)
    marked = Stamp("5e551011", 7)
    bare = _line(99, "", marked)
    mark = bare.index(b'"ash"')
    line = _line(99, "x" * (at - len(head) - mark), marked)
    return head + line + _foreign(BLOCK)[len(encode_header(HEADER)) :]


@pytest.mark.parametrize(
    "data",
    [
        _foreign(2 * BLOCK + 5),
        _foreign(BLOCK, ended=False),
        _with_mark(BLOCK + 9),
        _with_mark(2 * BLOCK - 7),
    ],
    ids=["foreign", "without its last LF", "a mark within a block", "a mark over two blocks"],
)
def test_the_end_found_beside_is_the_end_found_at_once(data: bytes) -> None:
    assert _looked_for(data, beside=True) == _looked_for(data, beside=False)


def test_what_cannot_be_read_is_told_where_the_end_is_asked_for() -> None:
    data = _foreign(2 * BLOCK)

    def read(start: int, end: int) -> bytes:
        if start == BLOCK:
            raise OSError(5, "Input/output error")
        return data[start:end]

    search = EndSearch(read, len(data), HEADER.id)
    search.begin()
    with pytest.raises(OSError, match="Input/output"):
        search.position()


def test_where_no_thread_can_be_begun_the_end_is_found_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    data = _foreign(2 * BLOCK)
    expected = _looked_for(data, beside=False)
    monkeypatch.setattr(threading.Thread, "start", refused)
    assert _looked_for(data, beside=True) == expected


def test_a_log_that_is_closed_takes_nothing_from_who_reads_it_beside(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(_foreign(BLOCK))
    before = sorted(Path("/proc/self/fd").iterdir())
    log = SessionLog.open(path, disk=Disk())
    twin = log.twin()
    log.close()
    assert twin.read(0, 10) == path.read_bytes()[:10]
    twin.close()
    assert sorted(Path("/proc/self/fd").iterdir()) == before


@pytest.mark.parametrize("write", [True, False])
def test_only_who_may_write_looks_for_the_end_of_a_large_file(tmp_path: Path, write: bool) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(data := _foreign(2 * BLOCK))
    begun: list[str] = []

    class Watched(Disk):
        def duplicate(self, fd: int) -> int:
            begun.append("beside")
            return super().duplicate(fd)

    with open_session(path, write=write, around=around(Watched())) as session:
        assert begun == ["beside"] * write
        if write:
            session.append(MessageBody(UserMessage((Text("more"),))))
            session.barrier()
    assert path.read_bytes().startswith(data)
    assert (len(path.read_bytes()) > len(data)) == write
    assert verify_file(path).problems == ()
