"""What is known of each server, for a person: as values, lines and JSON.

`agentsh mcp` asks each server first, `/mcp` of the chat shows what is known. Names and words are a
server's own: whoever prints them makes them safe. Read next: host.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from agentsh.jsontext import JsonObject
from agentsh.sanitize import first_line
from agentsh.tools.mcp.definition import Server, Transport
from agentsh.tools.mcp.host import McpHost, names_in
from agentsh.tools.mcp.listing import Listing, choose
from agentsh.tools.mcp.names import ServerTool

_ABOUT = 80
"""Characters of a description in a line."""

ServerState: TypeAlias = Literal["ready", "failed", "disabled", "untrusted"]


class ToolStatus(Struct, frozen=True):
    """A tool of a list; `name` is the one that a model is given."""

    tool: str
    name: str
    offered: bool
    read_only: bool
    description: str = ""


class ServerStatus(Struct, frozen=True):
    """One server. `source`: file and line of its table; `running`: its process or session is up."""

    name: str
    transport: Transport
    source: str
    state: ServerState
    protocol: str = ""
    server: str = ""
    version: str = ""
    tools: tuple[ToolStatus, ...] = ()
    error: str = ""
    log: str = ""
    is_running: bool = False
    instructions: str = ""


def statuses_of(host: McpHost) -> tuple[ServerStatus, ...]:
    """What a host knows of its servers; `source` and `log` are the caller's to fill in."""
    lists = host.lists()
    names = names_in(lists)
    return (
        *(_status(host, each, lists.get(name), names) for name, each in host.servers.items()),
        *(
            ServerStatus(each.name, "stdio", "", "failed", error=f"left out: {each.why}")
            for each in host.left_out
        ),
    )


def _status(
    host: McpHost, server: Server, listing: Listing | None, names: Mapping[ServerTool, str]
) -> ServerStatus:
    error = host.failure(server.name)
    bare = ServerStatus(
        server.name, server.transport, "", "failed", is_running=host.is_running(server.name)
    )
    if listing is None or error:
        return replace(bare, error=error or "it was not asked yet")
    chosen = {tool.name for tool in choose(listing, server.tools, server.exclude).tools}
    return replace(
        bare,
        state="ready",
        protocol=listing.protocol,
        server=listing.server,
        version=listing.version,
        instructions=listing.instructions,
        tools=tuple(
            ToolStatus(t.name, names[server.name, t.name], t.name in chosen, t.reads, t.description)
            for t in listing.tools
        ),
    )


def status_json(status: ServerStatus) -> JsonObject:
    """The shape that scripts rely on."""
    return {
        "name": status.name,
        "transport": status.transport,
        "source": status.source,
        "state": status.state,
        "protocol": status.protocol or None,
        "server": {"name": status.server, "version": status.version} if status.protocol else None,
        "instructions": status.instructions or None,
        "tools": [
            {
                "tool": t.tool,
                "name": t.name,
                "offered": t.offered,
                "read_only": t.read_only,
                "description": t.description,
            }
            for t in status.tools
        ],
        "error": status.error or None,
        "log": status.log or None,
    }


def status_lines(status: ServerStatus, *, every_tool: bool = False) -> Iterator[str]:
    """A server in words; with each of its tools where they are asked for."""
    parts: list[str] = [status.state, status.transport]
    if status.server:
        parts.append(f"{status.server} {status.version}".strip())
    if status.protocol:
        parts.append(f"protocol {status.protocol}")
    if status.is_running:
        parts.append("running")
    offered = [tool for tool in status.tools if tool.offered]
    if status.tools:
        parts.append(f"{len(offered)} of {len(status.tools)} tools offered")
    yield f"{status.name}: {', '.join(parts)}  ({status.source})"
    if status.error:
        yield "  " + " ".join(status.error.split())
    elif status.log and status.state == "failed":
        yield f"  log: {status.log}"
    if every_tool and status.instructions:
        yield f"  tells the model of itself: {first_line(status.instructions, _ABOUT)}"
    if every_tool:
        yield from map(_tool_line, status.tools)
    elif offered:
        yield "  " + ", ".join(tool.tool for tool in offered)


def _tool_line(tool: ToolStatus) -> str:
    """Its name for the model, its own, and how what it does begins."""
    marks = [*([] if tool.offered else ["not offered"]), *(["reads"] * tool.read_only)]
    more = f"  ({', '.join(marks)})" if marks else ""
    about = first_line(tool.description, _ABOUT)
    named = f"  {tool.name if tool.offered else '-'}  {tool.tool}{more}"
    return f"{named}: {about}" if about else named
