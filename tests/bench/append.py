"""One entry appended: what is ours of it without a barrier, and with one, against fdatasync."""

from __future__ import annotations

import os
from pathlib import Path

from agentsh.messages import Text, UserMessage
from agentsh.session.file.session import new_session
from agentsh.session.format.entries import Header, MessageBody, SessionId
from tests.bench.measure import Ran, alternately, table, timed, workplace

COUNT = 2_000
SYNCS = 50
_BODY = MessageBody(UserMessage((Text("a line of what somebody said, of usual length " * 4),), 1))


def main() -> None:
    with workplace() as root:
        runs = alternately(
            {
                "write of a line": lambda: _per(COUNT, lambda: _plain(root, COUNT, sync=False)),
                "append": lambda: _per(COUNT, lambda: _appended(root, COUNT, each=False)),
            }
        )
        table("an entry without a barrier: CPU, µs", runs, "cpu", against="append", scale=1e6)
        runs = alternately(
            {
                "write, fdatasync": lambda: _per(SYNCS, lambda: _plain(root, SYNCS, sync=True)),
                "append, barrier": lambda: _per(SYNCS, lambda: _appended(root, SYNCS, each=True)),
            }
        )
        table("with a barrier: wall, µs", runs, "wall", against="write, fdatasync", scale=1e6)
        table("the same: CPU, µs", runs, "cpu", against="write, fdatasync", scale=1e6)


def _per(count: int, work: object) -> Ran:
    assert callable(work)
    ran = timed(work)
    return Ran(ran.wall / count, ran.cpu / count)


def _plain(root: Path, count: int, *, sync: bool) -> None:
    path = root / "plain"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for _ in range(count):
        os.write(fd, b"x" * 400)
        if sync:
            os.fdatasync(fd)
    os.close(fd)
    path.unlink()


def _appended(root: Path, count: int, *, each: bool) -> None:
    path = root / "session.jsonl"
    header = Header(SessionId("01890000-0000-7000-8000-000000000001"), "2026-01-01T00:00:00Z", "/")
    with new_session(path, header) as session:
        for _ in range(count):
            session.append(_BODY)
            if each:
                session.barrier()
    path.unlink()


if __name__ == "__main__":
    main()
