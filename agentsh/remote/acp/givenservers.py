"""The MCP servers that an editor hands over → tables as the settings have them. Pure.

They are the user's own, as the editor is; each is asked about as any server's. It stands alone
because nothing else knows both spellings of a server. Read next: tools/mcp/definition.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from acp import schema

from agentsh.settings import ServerSettings

GivenServer: TypeAlias = (
    schema.McpServerStdio | schema.HttpMcpServer | schema.SseMcpServer | schema.AcpMcpServer
)


def given_servers(
    given: Sequence[GivenServer],
) -> tuple[Mapping[str, ServerSettings], tuple[str, ...]]:
    """By name, and what is left out, in words."""
    tables: dict[str, ServerSettings] = {}
    left_out: list[str] = []
    for server in given:
        match server:
            case schema.McpServerStdio(name=name):
                env = {variable.name: _as_it_is(variable.value) for variable in server.env}
                args = tuple(map(_as_it_is, server.args))
                tables[name] = ServerSettings(name=name, command=server.command, args=args, env=env)
            case schema.HttpMcpServer(name=name):
                headers = {header.name: _as_it_is(header.value) for header in server.headers}
                url = _as_it_is(server.url)
                tables[name] = ServerSettings(name=name, url=url, headers=headers)
            case schema.SseMcpServer(name=name) | schema.AcpMcpServer(name=name):
                left_out.append(
                    f"the editor's server {name} is left out: it is neither stdio nor http"
                )
    return tables, tuple(left_out)


def _as_it_is(text: str) -> str:
    """The editor has filled in what it wanted to: nothing in it is a variable of ours."""
    return text.replace("${", "$${")
