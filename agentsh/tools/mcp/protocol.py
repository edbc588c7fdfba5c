"""How a server is spoken to, whatever its era: greeting, list, one call. The official session's.

What is read of an answer is the JSON as it came (`KeepingDispatcher`), so that one which breaks a
schema is still an answer. Read next: listing.py, connection.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Final

from mcp.client.session import ClientSession
from mcp.shared.dispatcher import CallOptions, ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types import (
    CONNECTION_CLOSED,
    METHOD_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
    CallToolResult,
    InputRequiredResult,
    PaginatedRequestParams,
)
from pydantic import ValidationError

from agentsh.errors import ToolError, ToolFailedError
from agentsh.jsontext import JsonObject, JsonValue, clean
from agentsh.sanitize import safe_line
from agentsh.tools.mcp.listing import Era, Listing
from agentsh.tools.mcp.listreading import MOST_TOOLS, given_text, read_tools
from agentsh.tools.mcp.tool import ServerAnswer
from agentsh.tools.mcp.toolschema import value_fault

_PAGES: Final = 100
_MOST_LISTED: Final = 64 << 20
"""Characters of all pages together; about what one message may have."""
_LONGEST_NAME: Final = 100

_came: ContextVar[list[Mapping[str, Any]] | None] = ContextVar("_came", default=None)
"""The results of this task's requests, as they came."""


class KeepingDispatcher(JSONRPCDispatcher):
    """The official one, which also gives what came as it came; its probe waits for less long."""

    def __init__(self, streams: tuple[Any, Any], probe: float) -> None:
        super().__init__(*streams)
        self._probe = probe

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        if method == "server/discover":
            opts = {**(opts or {}), "timeout": self._probe}
        raw = await super().send_raw_request(method, params, opts, **more)
        box = _came.get()
        if box is not None and method in ("tools/call", "tools/list"):
            box.append(raw)
        return raw


class BoundedSession(ClientSession):
    """The official one; no result takes it longer than it is large."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.result_schemas: Mapping[str, JsonValue] = {}
        """Of the tools that say what their structured content is, as last listed."""

    async def validate_tool_result(self, name: str, result: CallToolResult) -> None:
        """Raises RuntimeError, as the library's own, which a server's schema could hold up."""
        if name not in self.result_schemas:
            return
        value = result.structured_content
        if value is None and "structured_content" not in result.model_fields_set:
            raise RuntimeError(f"{name} says that it gives structured content, and gave none")
        if (fault := value_fault(self.result_schemas[name], value)) is not None:
            raise RuntimeError(fault)


async def greet(session: ClientSession, era: Era | None) -> None:
    """In the era that it spoke last; a new one is probed for the newer one first."""
    if era != "handshake":
        with suppress(ValidationError, RuntimeError):
            try:
                await session.discover()
            except MCPError as e:
                if e.code == CONNECTION_CLOSED:
                    raise
            else:
                return
    try:
        await session.initialize()
    except MCPError as e:
        if e.code != UNSUPPORTED_PROTOCOL_VERSION:
            raise
        await session.discover()


async def list_tools(session: BoundedSession, scrub: Callable[[str], str]) -> Listing:
    """All pages of its list, and who it says it is."""
    entries: list[JsonValue] = []
    digests: set[int] = set()
    size = 0
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await _page(session, cursor)
        page_tools = page.get("tools")
        tools = page_tools[: MOST_TOOLS + 1] if isinstance(page_tools, list) else []
        texts = [repr(each) for each in tools]
        page_digests = {*map(hash, texts)}
        if tools and page_digests <= digests:
            break  # a server, or what stands before it, that makes nothing of a cursor
        digests |= page_digests
        size += sum(map(len, texts))
        entries += tools
        following = page.get("nextCursor")
        if not isinstance(following, str) or following == cursor:
            break
        if len(entries) > MOST_TOOLS or size > _MOST_LISTED:
            break
        cursor = following
    entries = entries[: MOST_TOOLS + 1]
    tools_read, odd = read_tools(entries, scrub)
    session.result_schemas = {
        str(each["name"]): each["outputSchema"]
        for each in entries
        if isinstance(each, dict) and "name" in each and each.get("outputSchema") is not None
    }
    info = session.server_info
    return Listing(
        tools=tools_read,
        era="handshake" if session.initialize_result is not None else "stateless",
        protocol=session.protocol_version or "",
        server=_named(info.name, scrub) if info is not None else "",
        version=_named(info.version, scrub) if info is not None else "",
        odd=odd,
        instructions=given_text(session.instructions or "", scrub).strip(),
    )


def _named(text: str, scrub: Callable[[str], str]) -> str:
    """What it calls itself, as it is kept and shown."""
    return safe_line(scrub(clean(text[: 8 * _LONGEST_NAME])), _LONGEST_NAME)


async def _page(session: ClientSession, cursor: str | None) -> Mapping[str, Any]:
    box: list[Mapping[str, Any]] = []
    token = _came.set(box)
    try:
        await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
    except ValidationError:
        pass  # what of it is sound is read all the same
    except MCPError as e:
        if e.code != METHOD_NOT_FOUND:
            raise
    finally:
        _came.reset(token)
    return box[-1] if box else {}


async def call_tool(
    session: ClientSession, tool: str, arguments: JsonObject, on_progress: ProgressFnT
) -> ServerAnswer:
    """One call, once. Raises MCPError, ToolFailedError."""
    box: list[Mapping[str, Any]] = []
    token = _came.set(box)
    try:
        answer = await session.call_tool(
            tool, arguments, progress_callback=on_progress, allow_input_required=True
        )
    except (RuntimeError, ValidationError) as e:
        reason = failure_words(e)
        results = [raw for raw in box if "content" in raw or "structuredContent" in raw]
        if not results:
            raise ToolFailedError(f"{tool}: its answer cannot be read: {reason}") from e
        return ServerAnswer(results[-1], f"the result is not what its server says: {reason}")
    finally:
        _came.reset(token)
    if isinstance(answer, InputRequiredResult) or not box:
        raise ToolFailedError(f"{tool} asks the person something, which agentsh does not do yet")
    return ServerAnswer(next(raw for raw in reversed(box) if "tools" not in raw))


def failure_words(error: BaseException) -> str:
    """One line about what the library raised."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, MCPError):
        return error.message
    if isinstance(error, ToolError):
        return str(error)
    first = str(error).split("\n")[0][:300]
    return first or type(error).__name__
