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
                env = {variable.name: variable.value for variable in server.env}
                tables[name] = ServerSettings(
                    name=name, command=server.command, args=tuple(server.args), env=env
                )
            case schema.HttpMcpServer(name=name):
                headers = {header.name: header.value for header in server.headers}
                tables[name] = ServerSettings(name=name, url=server.url, headers=headers)
            case schema.SseMcpServer(name=name) | schema.AcpMcpServer(name=name):
                left_out.append(
                    f"the editor's server {name} is left out: it is neither stdio nor http"
                )
    return tables, tuple(left_out)
