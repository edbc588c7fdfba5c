"""A client of `agentsh rpc`: lines in, records out, nothing of agentsh's code.

`RpcClient` talks to a process of its own; tests/remote/rpc/direct.py talks to a dispatcher in this
one, by the same words. Whatever they were told is held against the schema that `agentsh schema rpc`
prints, at their end.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.rpcschema import misfits

Record = dict[str, Any]


class Conversation:
    """What a client says and is told. What came is in `records`."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.err = b""
        self._news = threading.Condition()
        self._is_over = False
        self._number = 0

    def put(self, data: bytes) -> None:
        """Bytes as they are, to whoever reads the commands."""
        raise NotImplementedError

    def came(self, record: Record) -> None:
        with self._news:
            self.records.append(record)
            self._news.notify_all()

    def send(self, kind: str, **members: object) -> int:
        self._number += 1
        self.put(json.dumps({"id": self._number, "type": kind, **members}).encode() + b"\n")
        return self._number

    def wait(
        self, claim: Callable[[Record], object], since: int = 0, seconds: float = 30
    ) -> Record:
        """The first record from there on that the claim holds for."""

        def found() -> Record | None:
            return next((each for each in self.records[since:] if claim(each)), None)

        with self._news:
            self._news.wait_for(lambda: found() or self._is_over, seconds)
            record = found()
        assert record is not None, (self.records[-5:], self.err[-2000:])
        return record

    def response(self, number: int) -> Record:
        return self.wait(lambda r: r["type"] == "response" and r.get("id") == number)

    def ask(self, kind: str, **members: object) -> Record:
        return self.response(self.send(kind, **members))

    def ok(self, kind: str, **members: object) -> Any:
        response = self.ask(kind, **members)
        assert response["success"], response
        return response.get("data")

    def settled(self, since: int = 0) -> Record:
        return self.wait(lambda r: r["type"] == "agent_settled", since)

    def prompt(self, message: str) -> list[Record]:
        """To its end; what was said meanwhile."""
        since = len(self.records)
        self.ok("prompt", message=message)
        self.settled(since)
        return self.records[since:]

    def question(self, since: int = 0) -> Record:
        return self.wait(lambda r: r["type"] == "extension_ui_request", since)


class RpcClient(Conversation):
    """With a process; `odd` holds what was no JSON object on a line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        super().__init__()
        self.process = process
        self.odd: list[bytes] = []
        self._readers = [
            threading.Thread(target=each, daemon=True) for each in (self._read, self._read_err)
        ]
        for reader in self._readers:
            reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                self.came(dict(json.loads(line)))
            except (ValueError, TypeError):
                self.odd.append(line)
        with self._news:
            self._is_over = True
            self._news.notify_all()

    def _read_err(self) -> None:
        assert self.process.stderr is not None
        self.err = self.process.stderr.read()

    def put(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def end(self) -> int:
        """Close its input; the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.wait_for_end()

    def wait_for_end(self) -> int:
        code = self.process.wait(30)
        for reader in self._readers:
            reader.join(30)
        return code


@contextmanager
def rpc_client(*words: str, cwd: Path, command: tuple[str, ...] = ("rpc",)) -> Iterator[RpcClient]:
    process = subprocess.Popen(
        [sys.executable, "-m", "agentsh", *command, *words],
        cwd=cwd,
        env={**os.environ},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    client = RpcClient(process)
    try:
        yield client
        client.process.terminate()  # a signal stops whatever runs, and the process ends well
        client.wait_for_end()
        assert client.odd == []
        assert command == ("acp",) or misfits(client.records) == []  # acp's lines are others
        assert b"Traceback" not in client.err
    finally:
        process.kill()
        client.wait_for_end()
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            try:
                stream.close()
            except BrokenPipeError:
                continue
