"""One server while it runs: greeted, asked for its list, called. Lives in the client's event loop.

A connection ends once, and says why; whoever wants another one makes it. What is spoken is
protocol.py's, through which pipe wire's. Read next:
protocol.py, wire, client.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Final

from mcp.client.session import IncomingMessage
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost, listen
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    METHOD_NOT_FOUND,
    Implementation,
    ToolListChangedNotification,
)

from agentsh import __version__
from agentsh.errors import ToolFailedError, ToolTimeoutError
from agentsh.jsontext import JsonObject
from agentsh.tools.mcp.definition import Server
from agentsh.tools.mcp.listing import Era, Listing
from agentsh.tools.mcp.protocol import (
    BoundedSession,
    KeepingDispatcher,
    call_tool,
    failure_words,
    greet,
    list_tools,
)
from agentsh.tools.mcp.servicelog import ServiceLog
from agentsh.tools.mcp.tool import ServerAnswer
from agentsh.tools.mcp.wire.child import Child
from agentsh.tools.mcp.wire.pipes import piped
from agentsh.tools.mcp.wire.web import over_http

_PROBE: Final = 5.0
"""Seconds that an old server may leave `server/discover` without an answer."""
_RENEWALS: Final = 10
"""How often progress begins a call's time anew."""
_PAUSE: Final = 0.5
_LONG_PAUSE: Final = 120.0
"""Seconds before a server that tells no more of its list is listened to again: first, and most."""
_NOT_HERE: Final = ": its `url` takes no streamable HTTP (the older HTTP+SSE is not spoken)"
_REFUSED: Final = {401: "401 Unauthorized", 403: "403 Forbidden"}


class SessionForgottenError(ToolFailedError):
    """A server over HTTP knows nothing of this session any more, so it did nothing."""


class ClientSetup:
    """What every connection of a client is made with."""

    def __init__(
        self,
        wrap: Callable[[list[str]], list[str]] | None,
        scrub: Callable[[str], str],
        heard: Callable[[Server, Listing], None],
    ) -> None:
        self.wrap = wrap
        self.scrub = scrub
        self.heard = heard


class Connection:
    """A server that is being started, runs, or has ended."""

    def __init__(
        self, server: Server, era: Era | None, log: ServiceLog, setup: ClientSetup
    ) -> None:
        self.server = server
        self.ready: asyncio.Future[Listing] = asyncio.get_running_loop().create_future()
        self.ready.add_done_callback(lambda done: done.cancelled() or done.exception())
        self.is_asked_to_end = False
        self._era = era
        self._log = log
        self._setup = setup
        self._over = asyncio.Event()
        self._session: BoundedSession | None = None
        self._child: Child | None = None
        self._status = 0
        self._calls = 0
        self._why = ""
        self._side: set[asyncio.Task[None]] = set()
        self._last: Listing | None = None
        self._listening: asyncio.Task[None] | None = None
        self.task = asyncio.create_task(self._run(), name=f"mcp {server.name}")

    @property
    def is_over(self) -> bool:
        return self.task.done() or self._over.is_set()

    def kill(self) -> None:
        """At once, from any thread; nothing of it is left."""
        if self._child is not None:
            self._child.kill()

    async def end(self) -> None:
        """End it, its process included; bounded."""
        if self._side:  # a list that is on its way shall be kept
            await asyncio.wait(self._side, timeout=1.0)
        self.is_asked_to_end = True
        self._over.set()
        if self._session is None:
            self.task.cancel()
        await asyncio.wait({self.task}, timeout=8.0)
        if not self.task.done():
            self.kill()
            self.task.cancel()
            await asyncio.wait({self.task}, timeout=1.0)

    # ---- its life ------------------------------------------------------------------------------

    async def _run(self) -> None:
        try:
            async with AsyncExitStack() as stack:
                streams = await stack.enter_async_context(self._streams())
                probe = min(_PROBE, max(0.5, self.server.start_timeout / 3))
                session = BoundedSession(
                    dispatcher=KeepingDispatcher(streams, probe),
                    client_info=Implementation(name="agentsh", version=__version__),
                    message_handler=self._on_message,
                )
                await stack.enter_async_context(session)
                await greet(session, self._era)
                listing = await list_tools(session, self._setup.scrub)
                self._session = session
                self._listed(listing)
                self.ready.set_result(listing)
                self._subscribe(session)
                await self._over.wait()
        except asyncio.CancelledError:
            if not self.is_asked_to_end:
                await self._explain("it was cut off")
        except (Exception, ExceptionGroup) as e:  # noqa: BLE001 - whatever a server makes of it
            await self._explain(failure_words(e))
        finally:
            self._over.set()
            for task in (*self._side, self._listening):
                if task is not None:
                    task.cancel()
            if not self.ready.done():
                self.ready.set_exception(ToolFailedError(self.why()))

    @asynccontextmanager
    async def _streams(self) -> AsyncIterator[tuple[Any, Any]]:
        if self.server.argv:
            child = self._child = Child.start(self.server, self._setup.wrap, self._log)
            watch = asyncio.create_task(self._watch(child))
            try:
                async with piped(child, self._log) as streams:
                    yield streams
            finally:
                watch.cancel()
            return
        async with over_http(self.server, self._saw) as streams:
            yield streams

    def _saw(self, status: int) -> None:
        self._status = status if status >= 400 else 0

    async def _watch(self, child: Child) -> None:
        """A process that ends ends the connection, after its last words were read."""
        await child.exited()
        await asyncio.sleep(0.05)
        if not self.is_asked_to_end:
            await self._explain("")
            self._over.set()

    # ---- lists that change ---------------------------------------------------------------------

    async def _on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._relist()

    def _relist(self) -> None:
        if self._session is not None:
            self._beside(self._renew(self._session))

    async def _renew(self, session: BoundedSession) -> None:
        with suppress(MCPError):
            self._listed(await list_tools(session, self._setup.scrub))

    def _listed(self, listing: Listing) -> None:
        if listing != self._last:
            self._last = listing
            self._setup.heard(self.server, listing)

    def _subscribe(self, session: BoundedSession) -> None:
        """A stateless server tells of its list to those who listen."""
        capabilities = session.server_capabilities
        tools = capabilities.tools if capabilities is not None else None
        if session.initialize_result is None and tools is not None and tools.list_changed:
            self._listening = asyncio.create_task(self._listen(session))

    async def _listen(self, session: BoundedSession) -> None:
        """As long as there is a connection; a stream that breaks off is begun anew, less and less
        often."""
        loop, pause = asyncio.get_running_loop(), _PAUSE
        while True:
            begun = loop.time()
            with suppress(MCPError, SubscriptionLost, ListenNotSupportedError):
                async with listen(session, tools_list_changed=True) as events:
                    self._relist()  # what changed since the list was asked for, nobody tells
                    async for _ in events:
                        self._relist()
            pause = _PAUSE if loop.time() - begun > _LONG_PAUSE else min(pause * 4, _LONG_PAUSE)
            await asyncio.sleep(pause)

    def _beside(self, work: Coroutine[Any, Any, None]) -> None:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._side.add(task)
        task.add_done_callback(self._side.discard)

    # ---- calls ---------------------------------------------------------------------------------

    async def call(
        self, tool: str, arguments: JsonObject, progress: Callable[[str], None]
    ) -> ServerAnswer:
        """Raises ToolError. Cancelled, it tells the server."""
        assert self._session is not None
        label = f"{self.server.name}/{tool}"
        self._calls += 1
        try:
            return await self._timed(self._session, tool, arguments, progress)
        except TimeoutError as e:
            raise ToolTimeoutError(
                f"{label} timed out after {self.server.timeout:g} s; the server was told so, and"
                " whether it did it is not known"
            ) from e
        except MCPError as e:
            if e.code == CONNECTION_CLOSED or self.is_over:
                await self._explain("it closed the connection")
                self._over.set()
                raise ToolFailedError(f"{label} failed: {self.why()}") from e
            if self._status or e.message == "Session terminated":
                self._explained(failure_words(e))
                self._over.set()  # the next call greets it anew
                if self._is_forgotten(e):
                    raise SessionForgottenError(f"{label} failed: {self.why()}") from e
            raise ToolFailedError(f"{label} failed: {self._refusal() or e.message}") from e
        finally:
            self._calls -= 1

    def _is_forgotten(self, error: MCPError) -> bool:
        """Whether the server says that it knows no such session, and so did nothing.

        The library says it of a bare 404; of one with words only what is called alone is sure.
        """
        if error.message == "Session terminated":
            return True
        return self._status == 404 and error.code != METHOD_NOT_FOUND and self._calls == 1

    async def _timed(
        self,
        session: BoundedSession,
        tool: str,
        arguments: JsonObject,
        tell: Callable[[str], None],
    ) -> ServerAnswer:
        seconds, renewals = self.server.timeout, 0
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(seconds) as limit:

            async def on_progress(
                progress: float, total: float | None, message: str | None
            ) -> None:
                nonlocal renewals
                if renewals < _RENEWALS and not limit.expired():
                    renewals += 1
                    limit.reschedule(loop.time() + seconds)
                if message:
                    tell(message)

            try:
                return await call_tool(session, tool, arguments, on_progress)
            except MCPError as e:
                if e.code != HEADER_MISMATCH:
                    raise
            await list_tools(
                session, self._setup.scrub
            )  # its schema says which arguments are headers as well
            return await call_tool(session, tool, arguments, on_progress)

    # ---- why it ended --------------------------------------------------------------------------

    def why(self) -> str:
        return self._why

    async def _explain(self, reason: str) -> None:
        """The reason, once: the process's own words count more than what the protocol makes of
        its end."""
        if self._why:
            return
        child = self._child
        if child is None:
            self._explained(reason)
            return
        code = None
        with suppress(TimeoutError):
            async with asyncio.timeout(0.3):
                code = await child.exited()
        last = await child.last_words()
        said = f": {last}" if last else ""
        ended = reason if code is None else f"it ended with exit code {code}"
        self._why = f"{self.server.name}: {child.fault or ended}{said} (log: {self._log.path})"

    def _explained(self, reason: str) -> None:
        self._why = self._why or f"{self.server.name}: {self._refusal() or reason}"

    def _refusal(self) -> str:
        if self._status in _REFUSED:
            return f"it answered {_REFUSED[self._status]}: `headers` must carry a token it takes"
        if not self._status:
            return ""
        more = _NOT_HERE if self._status in (404, 405) and self._session is None else ""
        return f"it answered with HTTP status {self._status}{more}"
