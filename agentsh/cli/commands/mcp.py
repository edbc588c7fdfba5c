"""`agentsh mcp`: what each MCP server is, offers, and lacks; each is asked now.

Exit 1 where an enabled one cannot be had. Read next: cli/assembly/servers.py,
tools/mcp/status.py.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from agentsh.cli.notices import warn
from agentsh.cli.output import print_json, print_lines
from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.cli.parsing.options import Json
from agentsh.cli.parsing.words import Argument
from agentsh.errors import UsageError
from agentsh.sanitize import safe_text


def mcp(
    options: ModelOptions,
    server: Annotated[str | None, Argument(help="only this server, with each of its tools")] = None,
    json: Json = False,
) -> int:
    """Ask each MCP server what it offers, and say what it lacks."""
    from agentsh.cli.assembly.servers import all_statuses, end_servers, open_servers
    from agentsh.cli.assembly.wiring import children_environ
    from agentsh.cli.parsing.modeloptions import TurnOptions
    from agentsh.cli.setup.configuration import configure
    from agentsh.tools.mcp.status import status_json, status_lines

    cwd = Path.cwd()
    configuration = configure(options, os.environ, cwd)
    warn(configuration.notices)
    environ = children_environ(configuration.environ, configuration.settings)
    servers = open_servers(configuration, TurnOptions(), cwd, environ)
    try:
        statuses = all_statuses(configuration, servers, only=server)
    finally:
        if servers is not None:
            end_servers(servers)
    if server is not None and not statuses:
        names = ", ".join(sorted(configuration.settings.servers)) or "none"
        raise UsageError(f"there is no server {server[:80]!r}", hint=f"the servers are: {names}")
    if json:
        print_json([status_json(status) for status in statuses])
    elif not statuses:
        print_lines(["no server is configured: [mcp.servers.NAME] of the settings names one"])
    else:
        lines = [status_lines(status, every_tool=server is not None) for status in statuses]
        print_lines(safe_text(line) for each in lines for line in each)
    return 1 if any(status.state == "failed" for status in statuses) else 0
