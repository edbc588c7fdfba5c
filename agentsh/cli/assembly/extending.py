"""All that is offered: our tools, the user's own from the settings, those of servers; with hooks.

Plugins, commands as tools, commands as hooks and servers: nothing of it is loaded where the
settings name none; a project's settings name some only once the folder is trusted
(configuration.py). Read next: tools/extend/plugins.py,
tools/extend/commandtool.py, tools/extend/commandhook.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from agentsh.agent.restoring import missing_words
from agentsh.cli.assembly.restoring import BroughtBack
from agentsh.cli.assembly.tools import history_tool, own_tools
from agentsh.cli.lookup.choosing import Chosen
from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.cli.setup.configuration import Configuration
from agentsh.errors import SettingsError, UsageError
from agentsh.files import real
from agentsh.session.file.session import Session
from agentsh.settings import HOOK_TIMES, TURN_TIMES, Settings
from agentsh.tools.base import Tool
from agentsh.tools.toolset import Offer, Toolset, offered

if TYPE_CHECKING:
    from agentsh.abort import Abort
    from agentsh.agent.prompts.around import HookedTurns
    from agentsh.tools.extend.plugins import Hooks
    from agentsh.tools.extend.turnhooks import TurnHook
    from agentsh.tools.mcp.host import McpHost, Refresh


class Extended(Struct, frozen=True):
    """Our tools with the user's hooks round them, and the user's own tools."""

    own: tuple[Offer, ...]
    extra: tuple[Tool, ...] = ()
    notices: tuple[str, ...] = ()
    around: Callable[[Sequence[Offer]], tuple[Offer, ...]] = tuple
    """Puts the same hooks round other tools."""
    turns: HookedTurns | None = None
    """What is called around a turn."""


class Offered(Struct, frozen=True):
    """All tools that there are, and how those of servers are looked at anew."""

    toolset: Toolset
    notices: tuple[str, ...]
    refresh: Callable[[Abort, Sequence[str] | None], Refresh] | None = None
    turns: HookedTurns | None = None
    """What is called around a turn."""


def offered_tools(
    back: BroughtBack,
    options: TurnOptions,
    chosen: Chosen,
    servers: McpHost | None,
    environ: Mapping[str, str],
    tools: Sequence[Tool] = (),
) -> Offered:
    """Everything that could be offered, `tools` too. Raises UsageError, SettingsError."""
    configuration = back.configuration
    named = "history" in (back.tools or ()) or configuration.settings.tools.history
    own = own_tools()  # history is off until somebody names it
    if named:
        own += (history_tool(chosen.session, configuration.places, str(chosen.cwd)),)
    cwd = real(chosen.cwd)
    variables = {**environ, **_session_variables(chosen.session, cwd)}
    extended = _with_tools(extend(own, configuration, cwd, variables), tools)
    if servers is None:
        toolset = Toolset.offering(extended.own, options.tools, extra=extended.extra)
        gone = missing_words(toolset.missing(back.tools or ()))
        return Offered(toolset, (*extended.notices, *gone), turns=extended.turns)
    from agentsh.cli.assembly.servers import lists_wanted, missing_tools, refresher

    asked = lists_wanted(servers, options.tools)
    served = extended.around(servers.offers())
    toolset = Toolset.offering(extended.own, options.tools, extra=extended.extra, served=served)
    gone = missing_words(missing_tools(toolset, back.tools or ()))
    notices = (*extended.notices, *asked, *gone)
    refresh = refresher(servers, extended.around)
    return Offered(toolset, notices, refresh, extended.turns)


def _session_variables(session: Session, cwd: Path) -> dict[str, str]:
    """What the user's own tools and hooks are told of the session."""
    return {
        "AGENTSH_SESSION": session.header.id,
        "AGENTSH_SESSION_FILE": str(session.path or ""),
        "AGENTSH_CWD": str(cwd),
    }


def _with_tools(extended: Extended, tools: Sequence[Tool]) -> Extended:
    """With the caller's own tools behind ours. Raises UsageError: a name is taken."""
    taken = {offer.name for offer in extended.own} | {t.schema.name for t in extended.extra}
    for tool in tools:
        if tool.schema.name in taken:
            raise UsageError(f"there is a tool of the name {tool.schema.name} already")
        taken.add(tool.schema.name)
    more = extended.around([offered(tool) for tool in tools])
    return replace(extended, own=(*extended.own, *more))


def extend(
    own: Sequence[Offer], configuration: Configuration, cwd: Path, environ: Mapping[str, str]
) -> Extended:
    """What is offered. `environ`: what commands get. Raises SettingsError."""
    settings = configuration.settings
    hooks = tuple(chain.from_iterable(getattr(settings.hooks, when) for when in HOOK_TIMES))
    if not (settings.tools.plugins or settings.tools.command or hooks):
        return Extended(tuple(own))
    from agentsh.tools.extend.plugins import HookedTool, Plugins, accepted, hooked

    taken = [offer.name for offer in own]
    commands = accepted([("settings", tool) for tool in _command_tools(settings)], taken)
    loaded = Plugins()
    if settings.tools.plugins:
        from agentsh.tools.plugin_loader import load_plugins

        taken += [tool.schema.name for tool in commands.tools]
        loaded = load_plugins(settings.tools.plugins, taken)
    watching: tuple[tuple[str, Hooks], ...] = (
        *_command_hooks(configuration, cwd, environ),
        *loaded.hooks,
    )
    extra = (*commands.tools, *loaded.tools)
    if watching:
        extra = tuple(HookedTool(tool, watching) for tool in extra)
    turns = (*_turn_hooks(configuration, cwd, environ), *loaded.turns)
    return Extended(
        hooked(own, watching),
        extra,
        (*commands.notices, *loaded.notices),
        lambda some: hooked(some, watching),
        _around(turns),
    )


def _command_tools(settings: Settings) -> list[Tool]:
    if not settings.tools.command:
        return []
    from agentsh.tools.extend.commandtool import CommandTool, parse_command_spec

    tools: list[Tool] = []
    for name, table in settings.tools.command.items():
        assert isinstance(table, Mapping)  # settingstext has looked
        try:
            tools.append(CommandTool(parse_command_spec(name, table)))
        except ValueError as e:
            source = settings.sources.get("tools.command", "settings")
            raise SettingsError(f"tools.command.{name}: {e}", file=source) from e
    return tools


def _command_hooks(
    configuration: Configuration, cwd: Path, environ: Mapping[str, str]
) -> list[tuple[str, Hooks]]:
    settings = configuration.settings
    if not (settings.hooks.before_tool or settings.hooks.after_tool):
        return []
    from agentsh.tools.extend.commandhook import CommandHooks

    named = [
        *(("before_tool", command) for command in settings.hooks.before_tool),
        *(("after_tool", command) for command in settings.hooks.after_tool),
    ]
    return [
        (
            f"[hooks] {name}",
            CommandHooks(
                command=command,
                is_before=name == "before_tool",
                cwd=cwd,
                home=Path.home(),
                environ=environ,
                output_dir=configuration.places.outputs,
            ),
        )
        for name, command in named
    ]


def _turn_hooks(
    configuration: Configuration, cwd: Path, environ: Mapping[str, str]
) -> list[tuple[str, TurnHook]]:
    hooks = configuration.settings.hooks
    if not any(getattr(hooks, when) for when in TURN_TIMES):
        return []
    from agentsh.tools.extend.commandturn import TurnCommand

    home, outputs = Path.home(), configuration.places.outputs
    return [
        (f"[hooks] {when}", TurnCommand(command, when, cwd, home, environ, outputs))
        for when in TURN_TIMES
        for command in getattr(hooks, when)
    ]


def _around(hooks: tuple[tuple[str, TurnHook], ...]) -> HookedTurns | None:
    if not hooks:
        return None
    from agentsh.agent.prompts.around import HookedTurns
    from agentsh.tools.extend.turnhooks import TurnHooks

    return HookedTurns(TurnHooks(hooks))
