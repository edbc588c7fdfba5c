"""verify over 100 MB, foreign and ours, against reading, hashing and decoding each line."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path

import orjson

from agentsh.messages import Text, UserMessage
from agentsh.session.file.session import new_session
from agentsh.session.format.entries import Header, MessageBody, SessionId
from agentsh.session.health.verify import verify_file
from tests.bench.material import write_session
from tests.bench.measure import Ran, alternately, table, timed, workplace

SIZE = 100_000_000


def main() -> None:
    with workplace() as root:
        foreign, own = root / "foreign.jsonl", root / "own.jsonl"
        write_session(foreign, SIZE, "whole", "/")
        _write_own(own)
        for name, path in (("a file of Pi", foreign), ("a file of ours", own)):
            runs = alternately(
                {"read, sha256, orjson": partial(_floor, path), "verify": partial(_verify, path)}, 3
            )
            table(f"{name}, 100 MB: CPU, ms", runs, "cpu", against="read, sha256, orjson")


def _write_own(path: Path) -> None:
    header = Header(SessionId("01890000-0000-7000-8000-000000000001"), "2026-01-01T00:00:00Z", "/")
    body = MessageBody(UserMessage((Text("what somebody said in this session " * 60),), 1))
    with new_session(path, header) as session:
        while not path.exists() or path.stat().st_size < SIZE:
            for _ in range(500):
                session.append(body)
            session.barrier()


def _floor(path: Path) -> Ran:
    def work() -> None:
        digest = hashlib.sha256()
        with path.open("rb") as file:
            for line in file:
                digest.update(line)
                orjson.loads(line)

    return timed(work)


def _verify(path: Path) -> Ran:
    def work() -> None:
        assert verify_file(path).ok

    return timed(work)


if __name__ == "__main__":
    main()
