"""MCP servers for tests, as tables of the settings and as values: the faulty one, the official one.

A test process must not wait for a server longer than its own limit; every server that is started
here is ended by the client under test.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from agentsh.tools.mcp.definition import Server
from agentsh.tools.mcp.listing import Listing

if TYPE_CHECKING:  # a test of start-up needs only the servers
    from agentsh.tools.mcp.client import McpClient

SCRIPT = Path(__file__).with_name("faulty_server.py")


class Faulty(Struct, frozen=True):
    """The faulty server in one mode, and what it noted."""

    mode: str
    folder: Path

    @property
    def argv(self) -> tuple[str, ...]:
        """It needs nothing but the standard library, and no place that a sandbox may hide."""
        own = self.folder / SCRIPT.name
        if not own.exists():
            shutil.copyfile(SCRIPT, own)
        return str(Path(sys.executable).resolve()), str(own), self.mode, str(self.folder)

    def notes(self, name: str) -> list[str]:
        file = self.folder / name
        return file.read_text().split("\n")[:-1] if file.exists() else []

    def pids(self) -> list[int]:
        return [int(pid) for pid in self.notes("started")]

    def server(
        self, name: str = "birds", *, timeout: float = 20.0, start_timeout: float = 20.0
    ) -> Server:
        return Server(
            name=name,
            digest=f"{self.mode:0<64}",
            cwd=self.folder,
            argv=self.argv,
            env=dict(os.environ),
            timeout=timeout,
            start_timeout=start_timeout,
        )

    def table(self, name: str = "birds", **keys: object) -> str:
        """The same as a table of the settings."""
        command, *args = self.argv
        lines = {"command": command, "args": args, **keys}
        rows = "".join(f"{key} = {_toml(value)}\n" for key, value in lines.items())
        return f"[mcp.servers.{name}]\n{rows}"


def faulty(folder: Path, mode: str = "good") -> Faulty:
    folder.mkdir(parents=True, exist_ok=True)
    return Faulty(mode, folder)


class Heard(Struct):
    """A client, and the lists that it heard."""

    client: McpClient
    lists: list[tuple[str, Listing]]


@contextmanager
def opened_client(folder: Path) -> Iterator[Heard]:
    """A client whose logs are there; its servers are ended behind the block."""
    from agentsh.tools.mcp.client import McpClient

    lists: list[tuple[str, Listing]] = []
    client = McpClient(
        folder / "logs",
        None,
        lambda text: text,
        lambda server, listing: lists.append((server.name, listing)),
    )
    try:
        yield Heard(client, lists)
    finally:
        client.close()


def until(claim: Callable[[], object], seconds: float = 10.0) -> bool:
    """Whether it holds by then."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if claim():
            return True
        time.sleep(0.02)
    return bool(claim())


def is_gone(pid: int) -> bool:
    """Whether no such process runs; one that only waits to be reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state in "ZX"


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    return json.dumps(value)
