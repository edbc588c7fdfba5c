"""The process of a server on this machine: its start, its end, its exit code.

It runs in a group of its own, and bears a mark by which what left the group is found too. It is
ended in steps: its input is closed, TERM after two seconds, KILL after two more, for all that it
started. `kill` needs no event loop: it is for an end of ours in which nothing else works. Read
next: pipes.py, agentsh/tools/shell/groups.py.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

from agentsh.errors import ToolFailedError
from agentsh.files import is_folder
from agentsh.programs import find_program, plain_environment
from agentsh.tools.mcp.definition import Server
from agentsh.tools.mcp.servicelog import ServiceLog
from agentsh.tools.shell import groups

_GRACE: Final = 2.0
_TICK: Final = 0.04
_PIECE: Final = 1 << 16


class Child:
    """A started server. Made and used in the loop's thread, but for `kill`."""

    def __init__(self, popen: subprocess.Popen[bytes], mark: str, log: ServiceLog) -> None:
        self._popen = popen
        self._mark = mark
        self._log = log
        self.fault = ""
        """Why it was ended, where that is its own fault."""
        self._told = asyncio.create_task(self._listen())
        self._exit = asyncio.create_task(self._wait())

    @classmethod
    def start(
        cls, server: Server, wrap: Callable[[list[str]], list[str]] | None, log: ServiceLog
    ) -> Child:
        """Raises ToolFailedError: there is no such program, or no such folder."""
        argv, path = _program(server)
        mark = f"mcp-{secrets.token_hex(8)}."
        try:
            popen = subprocess.Popen(
                wrap(argv) if wrap is not None and server.confined else argv,
                cwd=server.cwd,
                env={**server.env, **path, groups.MARK: mark},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError) as e:
            raise ToolFailedError(f"it could not be started: {e}{_advice(server, e)}") from e
        return cls(popen, mark, log)

    @property
    def popen(self) -> subprocess.Popen[bytes]:
        return self._popen

    async def exited(self) -> int:
        """Waits for its own process; the exit code, 128+N after signal N."""
        return await asyncio.shield(self._exit)

    async def end(self) -> None:
        """End it with all that it started; its input must be closed already."""
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None:
                self._send(number)
            if await self._is_gone_within(_GRACE, is_asked=number is None):
                break
        self._told.cancel()
        with suppress(asyncio.CancelledError):
            await self._told
        if self._popen.poll() is None:  # cannot be ended: nothing of ours waits for it any more
            self._exit.cancel()
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def kill(self) -> None:
        """At once, from any thread."""
        groups.send((self._popen.pid,), self._mark, signal.SIGKILL)

    async def last_words(self) -> str:
        """What it said last on its standard error; what is still on the way has a moment."""
        await asyncio.wait({self._told}, timeout=0.3)
        return self._log.last_words()

    def _send(self, number: signal.Signals) -> None:
        groups.send((self._popen.pid,), self._mark, number)
        if number is signal.SIGTERM:
            groups.send((self._popen.pid,), self._mark, signal.SIGCONT)

    async def _is_gone_within(self, seconds: float, *, is_asked: bool) -> bool:
        """`is_asked`: only its own process was; what is left without that one is not waited for."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while loop.time() < until:
            if self._popen.poll() is not None:
                if groups.is_gone((self._popen.pid,), self._mark):
                    return True
                if is_asked:
                    return False
            await asyncio.sleep(_TICK)
        return False

    async def _wait(self) -> int:
        descriptor = _pidfd(self._popen.pid)
        if descriptor is not None:
            loop = asyncio.get_running_loop()
            ended = asyncio.Event()
            loop.add_reader(descriptor, ended.set)
            try:
                await ended.wait()
            finally:
                loop.remove_reader(descriptor)
                os.close(descriptor)
        while (code := self._popen.poll()) is None:
            await asyncio.sleep(_TICK)
        return 128 - code if code < 0 else code

    async def _listen(self) -> None:
        assert self._popen.stderr is not None
        async with reading(self._popen.stderr.fileno()) as reader:
            while data := await reader.read(_PIECE):
                self._log.stderr(data)


@asynccontextmanager
async def reading(descriptor: int) -> AsyncIterator[asyncio.StreamReader]:
    """A reader of a pipe, through a descriptor of its own."""
    reader = asyncio.StreamReader(limit=_PIECE)
    pipe = os.fdopen(os.dup(descriptor), "rb", 0)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    try:
        yield reader
    finally:
        transport.close()


def _pidfd(pid: int) -> int | None:
    with suppress(AttributeError, OSError):
        return os.pidfd_open(pid)
    return None


def _program(server: Server) -> tuple[list[str], dict[str, str]]:
    """Its words, the program as a path, and the PATH that it looks others up on.

    A clone may bring a program of that name, and a command of the model may write one: what the
    person's own settings mean by a name is none of the project's. Raises ToolFailedError.
    """
    argv = list(server.argv)
    if server.project is None:
        return argv, {}
    plain = plain_environment(server.env, server.project)
    path = {"PATH": plain["PATH"]} if "PATH" in plain else {}
    if "/" in argv[0]:
        return argv, path
    program = find_program(argv[0], server.env, server.project)
    if program is None and " " not in argv[0]:
        is_there = shutil.which(argv[0], path=server.env.get("PATH", "")) is not None
        why = "it lies in the project; `command` may name its path" if is_there else "not on PATH"
        raise ToolFailedError(f"it could not be started: {argv[0]}: {why}")
    return [program or argv[0], *argv[1:]], path


def _advice(server: Server, error: OSError | ValueError) -> str:
    """What to do about a program that is not there."""
    if not isinstance(error, FileNotFoundError):
        return ""
    if not is_folder(server.cwd):
        return f"; its folder (cwd) {server.cwd} is not there"
    if " " in server.argv[0]:
        return "; `command` is the program alone, each of its words goes into `args`"
    return ""
