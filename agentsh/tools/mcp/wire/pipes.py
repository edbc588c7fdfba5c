"""The official session's streams over a child's pipes: one JSON-RPC message a line.

Ours, because the library's own reads lines without a bound and logs what it cannot parse. What is
no JSON-RPC message goes to the server's log; an answer that can be told from its id, but not read,
is an error to whoever waits for it. When the child's own process ends the streams end, whoever else
still holds the pipe. Read next: framing.py, child.py, connection.py.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final, TypeAlias

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

from agentsh.jsontext import JsonError, dumps, loads, loads_foreign
from agentsh.tools.mcp.servicelog import ServiceLog
from agentsh.tools.mcp.wire.child import Child, reading
from agentsh.tools.mcp.wire.framing import LineSplitter, LineTooLongError

MOST_BYTES: Final = 64 << 20
"""Of one message."""
_PIECE: Final = 1 << 16
_DRAIN: Final = 0.4
"""Seconds that a pipe of an ended process may stay silent."""
_ID: Final = re.compile(rb'"id"\s*:\s*(\d{1,15})\s*[,}]')

Incoming: TypeAlias = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing: TypeAlias = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def piped(child: Child, log: ServiceLog) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """The streams; behind them the child is ended, its input closed first."""
    to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [
        asyncio.create_task(_read(child, log, to_session)),
        asyncio.create_task(_write(child, from_session, to_session)),
    ]
    try:
        yield incoming, outgoing
    finally:
        with anyio.CancelScope(shield=True):
            for stream in (incoming, outgoing, to_session):
                stream.close()
            tasks[1].cancel()
            drained = asyncio.create_task(_drain(tasks[0], child))
            await asyncio.gather(tasks[1], return_exceptions=True)
            await child.end()
            tasks[0].cancel()
            drained.cancel()
            await asyncio.gather(*tasks, drained, return_exceptions=True)
            from_session.close()


async def _read(
    child: Child,
    log: ServiceLog,
    to_session: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    assert child.popen.stdout is not None
    lines = LineSplitter(MOST_BYTES)
    exited = asyncio.create_task(child.exited())
    try:
        async with to_session, reading(child.popen.stdout.fileno()) as reader:
            while data := await _piece(reader, exited):
                for line in lines.feed(data):
                    message = _message(line)
                    if message is not None:
                        await to_session.send(message)
                    elif line.strip():
                        log.noise(line)
    except LineTooLongError:
        log.noise(b"(a message of over 64 MiB: the server was ended)")
        child.fault = "it sent a message of over 64 MiB, and was ended"
        child.kill()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        pass  # the session is gone
    finally:
        exited.cancel()


async def _piece(reader: asyncio.StreamReader, exited: asyncio.Task[int]) -> bytes:
    """The next bytes; nothing at the end, and soon after the process's own end."""
    read = asyncio.ensure_future(reader.read(_PIECE))
    try:
        if not exited.done():
            await asyncio.wait({read, exited}, return_when=asyncio.FIRST_COMPLETED)
        if not read.done():
            await asyncio.wait({read}, timeout=_DRAIN)
        return read.result() if read.done() else b""
    finally:
        if not read.done():
            read.cancel()
            with suppress(asyncio.CancelledError):
                await read


async def _drain(reader: asyncio.Task[None], child: Child) -> None:
    """A server that still writes must not block on its pipe while it is asked to end."""
    await asyncio.wait({reader}, timeout=_DRAIN)
    reader.cancel()
    assert child.popen.stdout is not None
    async with reading(child.popen.stdout.fileno()) as pipe:
        while await pipe.read(_PIECE):
            pass


def _message(line: bytes) -> SessionMessage | None:
    """One line as a message; None where it is none."""
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        pass  # perhaps JSON that only the lenient reader takes: NaN, half a character
    try:
        value = loads(dumps(loads_foreign(line)))
        return SessionMessage(jsonrpc_message_adapter.validate_python(value, by_name=False))
    except (JsonError, ValueError):
        return _unread(line)


def _unread(line: bytes) -> SessionMessage | None:
    """An answer that cannot be read, as an error to the request that it names."""
    ids = set(_ID.findall(line[:200] + line[-200:]))
    if b'"jsonrpc"' not in line or b'"method"' in line[:200] or len(ids) != 1:
        return None
    error = ErrorData(code=PARSE_ERROR, message="its answer is no JSON that can be read")
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=int(ids.pop()), error=error))


async def _write(
    child: Child,
    from_session: MemoryObjectReceiveStream[SessionMessage],
    to_session: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    assert child.popen.stdin is not None
    feed = _Feed()
    pipe = os.fdopen(os.dup(child.popen.stdin.fileno()), "wb", 0)
    child.popen.stdin.close()
    transport, _ = await asyncio.get_running_loop().connect_write_pipe(lambda: feed, pipe)
    try:
        async for item in from_session:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            transport.write(text.encode() + b"\n")
            await feed.ready()
    except OSError:
        to_session.close()  # whoever waits must not wait for ever
    finally:
        if transport.get_write_buffer_size():
            transport.abort()  # it does not read, and its input must close all the same
        else:
            transport.close()


class _Feed(asyncio.BaseProtocol):
    """How much the child's input takes."""

    def __init__(self) -> None:
        self._free = asyncio.Event()
        self._free.set()
        self._lost = False

    def pause_writing(self) -> None:
        self._free.clear()

    def resume_writing(self) -> None:
        self._free.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        self._free.set()

    async def ready(self) -> None:
        """Raises OSError: nobody reads it any more."""
        await self._free.wait()
        if self._lost:
            raise BrokenPipeError
