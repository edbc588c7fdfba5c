"""Which servers a session has, what of them counts now, and the way to them.

Lists are kept, and a session begins with the kept ones: nothing is started and no library loaded.
`refresh` is asked before each prompt: it starts servers that have no list, all at once, waits for
each its own start_timeout, and lets changed lists begin to count; between two calls of it nothing
changes. Lists come from the client's thread. Read next: keptlists.py, client.py.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from agentsh.abort import Abort
from agentsh.errors import ServerMissingError, UsageError
from agentsh.jsontext import JsonObject
from agentsh.messages import ToolSchema
from agentsh.tools.base import Effect, ServedTool, Tool, ToolContext
from agentsh.tools.mcp.definition import LeftOut, Server
from agentsh.tools.mcp.keptlists import KeptLists
from agentsh.tools.mcp.listing import Era, ListedTool, Listing, choose, difference_words
from agentsh.tools.mcp.names import ServerTool, offered_names
from agentsh.tools.toolset import Offer, ServerWords

if TYPE_CHECKING:  # for a call
    from agentsh.tools.mcp.tool import ServerAnswer

MANY_TOOLS: Final = 40
_TICK: Final = 0.05
_QUIET: Final = 1.0
"""Seconds after which it is said what is waited for."""

Refresh: TypeAlias = Generator[str, None, tuple[Offer, ...] | None]


class PendingList(Protocol):
    """A list that was asked for."""

    def wait(self, seconds: float) -> bool:
        """Whether it has come, or failed, by then."""

    def failure(self) -> str | None:
        """Once it is over: why it failed; None: it came."""


class ServerClient(Protocol):
    """What the host needs of client.McpClient, which it is handed when it needs it."""

    def listing(self, server: Server, era: Era | None) -> PendingList: ...

    def call(
        self,
        server: Server,
        era: Era | None,
        tool: str,
        arguments: JsonObject,
        abort: Abort,
        progress: Callable[[str], None],
    ) -> ServerAnswer: ...

    def forgive(self) -> None: ...

    def stop(self, name: str) -> None: ...

    def is_running(self, name: str) -> bool: ...

    def kill(self) -> None: ...

    def close(self) -> None: ...


class McpHost:
    """The servers of one session host. Satisfies tool.Caller."""

    def __init__(
        self,
        servers: Sequence[Server],
        left_out: Sequence[LeftOut],
        kept: KeptLists,
        open_client: Callable[[Callable[[Server, Listing], None]], ServerClient],
        weigh: Callable[[Sequence[ToolSchema]], int],
        make_tool: Callable[[ToolSchema, Effect, ServedTool, McpHost], Tool],
    ) -> None:
        self._servers = {server.name: server for server in servers}
        self._all_left_out, self._left_out = tuple(left_out), tuple(left_out)
        self._failures: dict[str, str] = {}
        self._kept = kept
        self._open_client = open_client
        self._weigh = weigh
        self._make_tool = make_tool
        self._client: ServerClient | None = None
        self._lock = threading.Lock()
        self._newer: dict[str, Listing] = {}
        self._asked: dict[str, PendingList] = {}
        listings = {name: kept.find(server) for name, server in self._servers.items()}
        self._current = {name: each for name, each in listings.items() if each is not None}
        self._untold = set(self._current)
        """Servers of whose list nothing was said yet in this process."""

    # ---- what is offered -----------------------------------------------------------------------

    def offers(self) -> tuple[Offer, ...]:
        """The tools that count now, sorted by their names."""
        names = self.names()
        offers = [
            self._offer(self._servers[server], tool, names[server, tool.name])
            for server, listing in self._current.items()
            for tool in self._chosen(server, listing)
        ]
        return tuple(sorted(offers, key=lambda offer: offer.name))

    def _offer(self, server: Server, tool: ListedTool, name: str) -> Offer:
        schema = _schema(tool, name)
        effect = Effect.READ if server.trust_hints and tool.reads else Effect.UNKNOWN
        served = ServedTool(server.name, tool.name, tool.digest())
        instructions = self._current[server.name].instructions
        words = ServerWords(server.name, instructions) if instructions else None
        return Offer(schema, lambda: self._make_tool(schema, effect, served, self), server=words)

    def names(self) -> Mapping[ServerTool, str]:
        """Of all tools that are listed now, chosen or not: a choice renames nothing."""
        return names_in(self._current)

    def _chosen(self, name: str, listing: Listing) -> tuple[ListedTool, ...]:
        server = self._servers[name]
        return choose(listing, server.tools, server.exclude).tools

    def refresh(self, abort: Abort) -> Refresh:
        """Let what came meanwhile begin to count. Yields what to tell; gives the tools that count
        from now on, or None where they are the same. Raises ServerMissingError.
        """
        yield from (f"{each.name}: left out: {each.why}" for each in self._left_out)
        missing = next((each for each in self._left_out if each.required), None)
        if missing is not None:
            raise ServerMissingError(f"the server {missing.name} is required: {missing.why}")
        self._left_out = ()
        if self._client is not None:
            self._client.forgive()
        yield from self._ask(abort)
        before = dict(self._current)
        with self._lock:
            newer, self._newer = self._newer, {}
        for name, listing in newer.items():
            old = self._current.get(name)
            if old is not None and old.tools != listing.tools:
                yield f"{name}: its tools have changed: {difference_words(old, listing)}"
            if old is not None and old.instructions != listing.instructions:
                yield f"{name}: what it says of how its tools are used has changed"
            if old is None or old.tools != listing.tools:
                self._untold.add(name)
            self._current[name] = listing
        for name in sorted(self._untold):
            yield from self._said_of(name)
        self._untold = set()
        changed = any(before.get(n) != each for n, each in self._current.items())
        return self.offers() if changed else None

    def _said_of(self, name: str) -> Iterator[str]:
        """What a person should know of a list that counts from now on."""
        server, listing = self._servers[name], self._current[name]
        yield from (f"{name}: {words}" for words in listing.odd)
        chosen = choose(listing, server.tools, server.exclude)
        for pattern in chosen.unused:
            yield f"{name}: the pattern {pattern!r} of its tools or exclude fits none of its tools"
        if len(chosen.tools) > MANY_TOOLS:
            names = self.names()
            schemas = [_schema(tool, names[name, tool.name]) for tool in chosen.tools]
            yield (
                f"{name} offers {len(schemas)} tools, about {self._weigh(schemas)} tokens of every"
                f" request: `tools` and `exclude` of [mcp.servers.{name}] choose among them"
            )

    # ---- servers without a list ----------------------------------------------------------------

    def _ask(self, abort: Abort) -> Iterator[str]:
        """Start what has no list, and what is required; only what is is waited for again."""
        begun = time.monotonic()
        waiting: dict[str, PendingList] = {}
        for name, server in self._servers.items():
            if self._is_settled(server):
                self._asked.pop(name, None)
                continue
            asked = self._asked.get(name)
            is_first = asked is None
            if asked is None or asked.wait(0):
                asked = self._asked[name] = self._client_now().listing(server, self._era(name))
            if is_first or server.required:
                waiting[name] = asked
        quiet = begun + min([_QUIET, *(self._servers[n].start_timeout for n in waiting)])
        if [name for name, each in waiting.items() if _waited(each, quiet, abort) == ""]:
            late = [n for n in waiting if begun + self._servers[n].start_timeout > quiet]
            late = [name for name in late if not waiting[name].wait(0)]
            if late and not abort.is_set:
                yield f"waiting for the tools of {', '.join(late)} (start_timeout)"
        for name, asked in waiting.items():
            server = self._servers[name]
            why = _waited(asked, begun + server.start_timeout, abort)
            if why is None or abort.is_set:
                self._failures.pop(name, None)
                continue
            after = f"{name}: no list of its tools after {server.start_timeout:g} s"
            reason = why or f"{after} (start_timeout); it joins with the next prompt if it comes"
            if server.required:
                raise ServerMissingError(
                    f"the server {name} is required, and is not there: {reason}"
                )
            self._failures[name] = reason
            yield reason

    def _is_settled(self, server: Server) -> bool:
        """Whether the turn may begin: a list that is kept shows no required server to be there."""
        name = server.name
        with self._lock:
            is_known = name in self._current or name in self._newer
        return is_known and (not server.required or self.is_running(name))

    def _client_now(self) -> ServerClient:
        if self._client is None:
            self._client = self._open_client(self._heard)
        return self._client

    def _heard(self, server: Server, listing: Listing) -> None:
        """A list that came, from the client's thread."""
        if self._kept.find(server) != listing:
            self._kept.keep(server, listing)
        with self._lock:
            self._newer[server.name] = listing

    # ---- calls ---------------------------------------------------------------------------------

    def call(
        self, server: str, tool: str, arguments: JsonObject, context: ToolContext
    ) -> ServerAnswer:
        return self._client_now().call(
            self._servers[server],
            self._era(server),
            tool,
            arguments,
            context.abort,
            lambda text: context.progress(f"{text}\n"),
        )

    # ---- what is known -------------------------------------------------------------------------

    def survey(self, names: Collection[str], abort: Abort) -> None:
        """Ask these servers now, all at once; what they say counts from the next prompt on."""
        begun = time.monotonic()
        asked = {
            name: self._client_now().listing(server, self._era(name))
            for name, server in self._servers.items()
            if name in names
        }
        for name, pending in asked.items():
            seconds = self._servers[name].start_timeout
            why = _waited(pending, begun + seconds, abort)
            late = f"no list of its tools after {seconds:g} s (start_timeout)"
            self._failures[name] = late if why == "" else why or ""

    @property
    def servers(self) -> Mapping[str, Server]:
        return self._servers

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        return self._all_left_out

    def lists(self) -> Mapping[str, Listing]:
        """What is known of each, those that count from the next prompt on included."""
        with self._lock:
            return {**self._current, **self._newer}

    def failure(self, name: str) -> str:
        """Why its list could not be had when it was asked last; "": it could."""
        return self._failures.get(name, "")

    def _era(self, name: str) -> Era | None:
        listing = self._current.get(name)
        return None if listing is None else listing.era

    def restart(self, name: str) -> None:
        """End a server; the next call, or the next prompt, starts it. Raises UsageError."""
        if name not in self._servers:
            names = ", ".join(self._servers) or "none"
            raise UsageError(f"there is no server {name[:80]!r}", hint=f"the servers are: {names}")
        if self._client is not None:
            self._client.stop(name)
        self._asked.pop(name, None)

    def is_running(self, name: str) -> bool:
        return self._client is not None and self._client.is_running(name)

    def unlisted(self) -> tuple[str, ...]:
        """Servers of which no list is known."""
        with self._lock:
            return tuple(n for n in self._servers if n not in self._current | self._newer)

    def kill(self) -> None:
        """At once, from a signal handler: nothing of the servers is left."""
        if self._client is not None:
            self._client.kill()

    def close(self) -> None:
        """End all servers that were started."""
        client, self._client = self._client, None
        if client is not None:
            client.close()


def names_in(lists: Mapping[str, Listing]) -> Mapping[ServerTool, str]:
    """The name of each tool of these lists."""
    return offered_names((s, tool.name) for s, each in lists.items() for tool in each.tools)


def _waited(asked: PendingList, until: float, abort: Abort) -> str | None:
    """None: the list came. "": it did not come in time, or it was aborted. Else why it failed."""
    while not abort.is_set:
        left = until - time.monotonic()
        if asked.wait(max(0.0, min(_TICK, left))):
            return asked.failure()
        if left <= 0:
            return ""
    return ""


def _schema(tool: ListedTool, name: str) -> ToolSchema:
    return ToolSchema(name, tool.description or tool.name, tool.parameters)
