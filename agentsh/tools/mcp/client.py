"""The official client behind one synchronous face: one event loop, in a thread of its own.

Importing this module loads the package, so only a call or the want of a list does. A server that
dies is started again by the next call, but not after three deaths within a minute; `forgive` begins
to count anew. `close` ends all servers at once, and so does the interpreter's end. Read next:
connection.py.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from agentsh.abort import Abort
from agentsh.errors import ToolAbortedError, ToolError, ToolFailedError, ToolTimeoutError
from agentsh.jsontext import JsonObject, dumps, loads_object
from agentsh.tools.mcp.connection import ClientSetup, Connection, SessionForgottenError
from agentsh.tools.mcp.definition import Server
from agentsh.tools.mcp.listing import Era, Listing
from agentsh.tools.mcp.servicelog import ServiceLog
from agentsh.tools.mcp.tool import ServerAnswer

_DEATHS: Final = 3
_WITHIN: Final = 60.0
_LOGGERS: Final = ("mcp", "client", "httpx2", "httpcore2", "asyncio")

_Value = TypeVar("_Value")


class _Slot:
    """A server's place: its connection, and when it died."""

    def __init__(self, server: Server, log: ServiceLog) -> None:
        self.server = server
        self.log = log
        self.connection: Connection | None = None
        self.deaths: deque[float] = deque(maxlen=_DEATHS)
        self.last_end = ""

    def forget_ended(self) -> None:
        """Of a connection that is over what is left is when, and why."""
        connection = self.connection
        if connection is None or not connection.is_over:
            return
        self.connection = None
        if not connection.is_asked_to_end:
            self.deaths.append(time.monotonic())
            self.last_end = connection.why()


class AskedList:
    """A list that is on its way. Satisfies host.PendingList."""

    def __init__(self, future: Future[Listing]) -> None:
        self._future = future

    def wait(self, seconds: float) -> bool:
        with suppress(TimeoutError, ToolError, CancelledError):
            self._future.result(seconds)
        return self._future.done()

    def failure(self) -> str | None:
        if self._future.cancelled():
            return "it was stopped"
        error = self._future.exception()
        return None if error is None else str(error)


class McpClient:
    """The servers of one session host, as far as they were started."""

    def __init__(
        self,
        logs: Path,
        wrap: Callable[[list[str]], list[str]] | None,
        scrub: Callable[[str], str],
        heard: Callable[[Server, Listing], None],
    ) -> None:
        self._logs = logs
        self._setup = ClientSetup(wrap, scrub, heard)
        self._slots: dict[str, _Slot] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="mcp", daemon=True)
        self._thread.start()
        _keep_quiet(ServiceLog(logs / "mcp.log"))
        atexit.register(self.close)

    def listing(self, server: Server, era: Era | None) -> AskedList:
        """Its list, from the server that runs or is started now; it comes by `heard`."""
        return AskedList(self._do(self._listing(server, era)))

    def call(
        self,
        server: Server,
        era: Era | None,
        tool: str,
        arguments: JsonObject,
        abort: Abort,
        progress: Callable[[str], None],
    ) -> ServerAnswer:
        """Starts the server where it does not run. Raises ToolError."""
        sound = loads_object(dumps(arguments))  # no half characters
        future = self._do(self._call(server, era, tool, sound, progress))

        def stop() -> None:
            future.cancel()

        with abort.calling(stop):
            try:
                return future.result()
            except CancelledError as e:
                raise ToolAbortedError(f"{server.name}/{tool} was stopped by the user") from e

    def forgive(self) -> None:
        """Deaths so far do not count any more."""
        for slot in list(self._slots.values()):
            slot.forget_ended()
            slot.deaths.clear()

    def stop(self, name: str) -> None:
        """End one server; the next call starts it again."""
        slot = self._slots.get(name)
        if slot is not None and slot.connection is not None:
            self._do(slot.connection.end()).result(10)
            slot.connection = None

    def is_running(self, name: str) -> bool:
        slot = self._slots.get(name)
        return slot is not None and slot.connection is not None and not slot.connection.is_over

    def kill(self) -> None:
        """End all servers at once, without the loop."""
        for slot in list(self._slots.values()):
            if slot.connection is not None:
                slot.connection.kill()

    def close(self) -> None:
        """End all servers and the loop. Safe to call twice."""
        atexit.unregister(self.close)
        if self._loop.is_closed():
            return
        try:
            self._do(self._end_all()).result(12)
        except TimeoutError:  # something holds up the loop, and no server is left for that
            self.kill()
        except BaseException:
            self.kill()
            raise
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(2)
            if not self._thread.is_alive():
                self._loop.close()

    # ---- in the loop's thread ------------------------------------------------------------------

    def _do(self, work: Coroutine[Any, Any, _Value]) -> Future[_Value]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _listing(self, server: Server, era: Era | None) -> Listing:
        return await asyncio.shield(self._connected(server, era).ready)

    async def _call(
        self,
        server: Server,
        era: Era | None,
        tool: str,
        arguments: JsonObject,
        progress: Callable[[str], None],
    ) -> ServerAnswer:
        connection = await self._greeted(server, era)
        try:
            return await connection.call(tool, arguments, progress)
        except SessionForgottenError:  # an idle server's way to say: greet me again
            connection = await self._greeted(server, era)
            return await connection.call(tool, arguments, progress)

    async def _greeted(self, server: Server, era: Era | None) -> Connection:
        """A connection that may be called on. Raises ToolError."""
        connection = self._connected(server, era)
        try:
            async with asyncio.timeout(server.start_timeout):
                await asyncio.shield(connection.ready)
        except TimeoutError as e:
            raise ToolTimeoutError(
                f"{server.name} was not ready within {server.start_timeout:g} s (start_timeout)"
            ) from e
        return connection

    def _connected(self, server: Server, era: Era | None) -> Connection:
        """The connection of a server, begun now where there is none. Raises ToolFailedError."""
        slot = self._slots.get(server.name)
        if slot is None:
            log = ServiceLog(self._logs / f"mcp-{server.name}.log")
            slot = self._slots[server.name] = _Slot(server, log)
        slot.forget_ended()
        if slot.connection is not None:
            return slot.connection
        if len(slot.deaths) == _DEATHS and time.monotonic() - slot.deaths[0] < _WITHIN:
            raise ToolFailedError(
                f"{server.name} ended three times within a minute, and is not started again before"
                f" the next prompt; the last time: {slot.last_end}"
            )
        slot.connection = Connection(server, era, slot.log, self._setup)
        return slot.connection

    async def _end_all(self) -> None:
        connections = [slot.connection for slot in self._slots.values() if slot.connection]
        await asyncio.gather(*(each.end() for each in connections), return_exceptions=True)
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others, timeout=1.0)


class _Handler(logging.Handler):
    """What libraries log goes to a file, and never to the terminal."""

    def __init__(self, log: ServiceLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(Exception):
            self._log.noise(self.format(record).encode("utf-8", "replace"))


def _keep_quiet(log: ServiceLog) -> None:
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(handler, _Handler) for handler in logger.handlers):
            logger.addHandler(_Handler(log))
            logger.propagate = False
