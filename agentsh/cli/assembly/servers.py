"""MCP servers put together: settings, environment and folder → the host of a session's servers.

Nothing is loaded where the settings name no server. With servers only what is known of them is
read; the official client is loaded when one is called, or has no list yet (docs/adr/0036). Read
next: tools/mcp/host.py, tools/mcp/client.py.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from agentsh.cli.assembly.safety import confine
from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.cli.setup.configuration import Configuration
from agentsh.cli.setup.trust import read_text
from agentsh.errors import SettingsError, UsageError
from agentsh.files import is_regular, real
from agentsh.settings import SERVERS, ServerSettings

if TYPE_CHECKING:
    from agentsh.abort import Abort
    from agentsh.messages import ToolSchema
    from agentsh.tools.base import Effect, ServedTool, Tool
    from agentsh.tools.mcp.definition import Server, Transport
    from agentsh.tools.mcp.host import McpHost, Refresh, ServerClient
    from agentsh.tools.mcp.listing import Listing
    from agentsh.tools.mcp.status import ServerStatus
    from agentsh.tools.toolset import Offer, Toolset

_FATAL: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def open_servers(
    configuration: Configuration,
    options: TurnOptions,
    cwd: Path,
    environ: Mapping[str, str],
    more: Mapping[str, ServerSettings] | None = None,
) -> McpHost | None:
    """The servers that are enabled, or None where there are none. `environ`: what commands get.

    `more`: servers that were given besides those of the settings. Raises UsageError: the package
    that speaks to them is missing.
    """
    tables = {**configuration.settings.servers, **(more or {})}
    enabled = [table for table in tables.values() if table.enabled]
    if options.no_mcp or not enabled:
        return None
    from agentsh.tools.mcp.definition import LeftOut, Server, define
    from agentsh.tools.mcp.host import McpHost
    from agentsh.tools.mcp.keptlists import KeptLists

    must_have_package()
    folder = real(cwd)
    mcp = configuration.settings.mcp
    defined = []
    for table in enabled:
        is_own = table.name in (more or {}) or _is_persons(configuration, table.name)
        defined.append(define(table, mcp, environ, folder, is_projects=not is_own))
    return McpHost(
        [each for each in defined if isinstance(each, Server)],
        [each for each in defined if isinstance(each, LeftOut)],
        KeptLists(configuration.places.server_lists),
        client_opener(configuration, cwd),
        _weight,
        _tool,
    )


def must_have_package() -> None:
    """Raises UsageError with the line that brings it."""
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise UsageError(
            "the settings name MCP servers, and the package that speaks to them is not here",
            hint="pip install 'agentsh[mcp]' brings it; --no-mcp goes without them",
        )


def client_opener(
    configuration: Configuration, cwd: Path
) -> Callable[[Callable[[Server, Listing], None]], ServerClient]:
    """Makes the client when it is needed."""

    def open_client(heard: Callable[[Server, Listing], None]) -> ServerClient:
        from agentsh.context.scrub import scrub
        from agentsh.tools.mcp.client import McpClient

        wrap = confine(configuration, cwd)
        return McpClient(configuration.places.logs, wrap, lambda text: scrub(text)[0], heard)

    return open_client


def refresher(
    servers: McpHost, around: Callable[[Sequence[Offer]], tuple[Offer, ...]]
) -> Callable[[Abort, Sequence[str] | None], Refresh]:
    """What a turn asks before it begins; `around` puts the user's hooks round each tool."""
    from agentsh.tools.mcp.names import is_server_tool

    def refresh(abort: Abort, chosen: Sequence[str] | None) -> Refresh:
        if chosen is not None and not any(map(is_server_tool, chosen)):
            return None  # no tool of any server is wanted
        offers = yield from servers.refresh(abort)
        return None if offers is None else around(offers)

    return refresh


def lists_wanted(servers: McpHost, named: str | None) -> tuple[str, ...]:
    """Ask servers now where an option names a tool that is on no kept list; what to tell of it."""
    if named is None:
        return ()
    from agentsh.abort import Abort
    from agentsh.tools.mcp.names import is_server_tool

    named_words = {word.strip() for word in named.split(",")}
    if all(n in servers.names().values() for n in named_words if is_server_tool(n)):
        return ()
    return tuple(servers.refresh(Abort()))


def missing_tools(toolset: Toolset, chosen: Sequence[str]) -> tuple[str, ...]:
    """Tools that were chosen and are none here; of a server's that is known once it was asked."""
    from agentsh.tools.mcp.names import is_server_tool

    return tuple(name for name in toolset.missing(chosen) if not is_server_tool(name))


def end_servers(servers: McpHost) -> None:
    """End them all. A signal that ends us meanwhile ends them at once, and then us."""
    if threading.current_thread() is not threading.main_thread():
        servers.close()
        return

    def hurry(number: int, _frame: FrameType | None) -> None:
        servers.kill()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    fatal = [each for each in _FATAL if signal.getsignal(each) is signal.SIG_DFL]
    for number in fatal:
        signal.signal(number, hurry)
    try:
        servers.close()
    finally:
        for number in fatal:
            signal.signal(number, signal.SIG_DFL)


def all_statuses(
    configuration: Configuration,
    servers: McpHost | None,
    *,
    only: str | None = None,
    ask: bool = True,
) -> list[ServerStatus]:
    """Each server of the settings, the disabled and the untrusted ones too.

    `ask`: each is asked now; else only those of which no list is known.
    """
    from agentsh.abort import Abort
    from agentsh.tools.mcp.status import ServerStatus, statuses_of

    settings = configuration.settings
    by_name: dict[str, ServerStatus] = {}
    if servers is not None:
        names = settings.servers if ask else servers.unlisted()
        servers.survey([name for name in names if only in (None, name)], Abort())
        by_name = {status.name: status for status in statuses_of(servers)}
    statuses: list[ServerStatus] = []
    for name, table in settings.servers.items():
        transport: Transport = "stdio" if table.command else "http"
        source = _source(settings.sources, name)
        disabled = ServerStatus(name, transport, source, "disabled")
        status = by_name.get(name, disabled)
        log = configuration.places.logs / f"mcp-{name}.log"
        log_path = str(log) if is_regular(log) else ""
        statuses.append(replace(status, transport=transport, source=source, log=log_path))
    statuses += _untrusted(configuration, set(settings.servers))
    return [status for status in statuses if only in (None, status.name)]


def _untrusted(configuration: Configuration, names: Collection[str]) -> Iterator[ServerStatus]:
    """Servers of the project's own settings, which do not count."""
    from agentsh.settingstext import read_settings
    from agentsh.tools.mcp.status import ServerStatus

    for file in configuration.not_used:
        try:
            layer = read_settings(read_text(file), str(file))
        except SettingsError:
            continue  # whoever trusts it is told
        for path, table in layer.tables.items():
            if path[: len(SERVERS)] == SERVERS and len(path) == 3 and path[2] not in names:
                transport: Transport = "stdio" if table.get("command") else "http"
                source = _source(layer.sources, path[2])
                yield ServerStatus(path[2], transport, source, "untrusted")


def _is_persons(configuration: Configuration, name: str) -> bool:
    """Whether the person's own settings name that server, and not a project's."""
    own = str(configuration.places.settings)
    return _source(configuration.settings.sources, name).startswith(own)


def _source(sources: Mapping[str, str], name: str) -> str:
    start = ".".join((*SERVERS, name))
    return next((sources[n] for n in sources if n == start or n.startswith(f"{start}.")), "")


def _tool(schema: ToolSchema, effect: Effect, served: ServedTool, caller: McpHost) -> Tool:
    from agentsh.tools.mcp.tool import McpTool

    return McpTool(schema, effect, served, caller)


def _weight(schemas: Sequence[ToolSchema]) -> int:
    from agentsh.context.tokens import estimate_tools

    return estimate_tools(schemas)
