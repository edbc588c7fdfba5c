"""A client that talks to the dispatcher in this process; the host is the program's own.

Commands are taken in the thread of the test, in their order, as `agentsh rpc` takes them; turns and
whatever else takes a while run in their threads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentsh.cli.assembly.remotehosting import ProgramRemoteHost
from agentsh.jsontext import JsonValue
from agentsh.remote.rpc.dialogs import Dialogs
from agentsh.remote.rpc.dispatcher import Dispatcher
from agentsh.remote.rpc.records import encode_record
from agentsh.remote.rpc.running import Runner
from agentsh.remote.stdio.framing import RecordSplitter
from agentsh.remote.values.rpcrecords import RpcRecord
from tests.cli.hosts import program_host
from tests.cli.working import Project
from tests.support.endpoint import Endpoint, Reply, serve
from tests.support.rpcclient import Conversation, Record
from tests.support.rpcschema import misfits

TWO_MODELS: list[JsonValue] = [{"id": "m"}, {"id": "n"}]


class DirectClient(Conversation):
    """`host` is who answers, `endpoint` whom it asks; `bugs` holds what crashed."""

    def __init__(self, host: ProgramRemoteHost, endpoint: Endpoint) -> None:
        super().__init__()
        self.host = host
        self.endpoint = endpoint
        self.bugs: list[BaseException] = []
        self._splitter = RecordSplitter()
        self._dialogs = Dialogs(self._said)
        self.runner = Runner(host, self._said, self._dialogs, self._woken)
        host.front.approver = self.runner.ask
        self.dispatcher = Dispatcher(
            host,
            self.runner,
            self._dialogs,
            self._written,
            self._said,
            self._reported,
        )

    def put(self, data: bytes) -> None:
        for line in self._splitter.feed(data):
            self.dispatcher.take(line)

    def answer(self, question: Record, **members: object) -> None:
        said = {"type": "extension_ui_response", "id": question["id"], **members}
        self.put(json.dumps(said).encode() + b"\n")

    def end(self) -> None:
        self.runner.stop()
        assert self.runner.failure is None, self.runner.failure
        assert self.bugs == []
        assert misfits(self.records) == []

    def _said(self, record: RpcRecord) -> None:
        self._written(encode_record(record))

    def _written(self, record: bytes) -> None:
        self.came(json.loads(record))

    def _reported(self, error: Exception) -> str:
        self.bugs.append(error)
        return repr(error)

    def _woken(self) -> None:
        """Whoever waits sees the failure at the end."""


@contextmanager
def direct_client(
    project: Project,
    *script: Reply,
    models: list[JsonValue] | None = None,
    settings: str = "",
    save: bool = True,
) -> Iterator[DirectClient]:
    """A client of a new session of the project."""
    with (
        serve(*script, models=models) as endpoint,
        program_host(ProgramRemoteHost, project, endpoint, settings=settings, save=save) as host,
    ):
        client = DirectClient(host, endpoint)
        try:
            yield client
        finally:
            client.runner.stop()
        client.end()


def refusal(record: Record) -> tuple[str, str]:
    """(code, words) of a command that was not done."""
    assert not record["success"], record
    return record["code"], record["error"]


def entries(client: DirectClient) -> list[Record]:
    found: list[Record] = client.ok("get_entries")["entries"]
    return found


def prompt_entry(client: DirectClient, number: int = 0) -> str:
    """The entry of a prompt of the path."""
    entry: str = client.ok("get_fork_messages")["messages"][number]["entryId"]
    return entry


def text_of(path: Path) -> str | None:
    return path.read_text() if path.exists() else None
