"""The user's own tools and hooks, from the settings: plugins, commands as tools, commands as hooks.

Nothing of it is loaded where the settings name none; a project's settings name some only once the
folder is trusted (configuration.py). Read next: tools/plugins.py, tools/commandtool.py,
tools/commandhook.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from agentsh.cli.configuration import Configuration
from agentsh.errors import SettingsError
from agentsh.settings import Settings
from agentsh.tools.base import Tool
from agentsh.tools.toolset import Offer

if TYPE_CHECKING:
    from agentsh.tools.plugins import Hooks


class Extended(Struct, frozen=True):
    """Our tools with the user's hooks round them, and the user's own tools."""

    own: tuple[Offer, ...]
    extra: tuple[Tool, ...] = ()
    notices: tuple[str, ...] = ()


def extend(
    own: Sequence[Offer], configuration: Configuration, cwd: Path, environ: Mapping[str, str]
) -> Extended:
    """What is offered. `environ`: what commands get. Raises SettingsError."""
    settings = configuration.settings
    hooks = (*settings.before_tool, *settings.after_tool)
    if not (settings.plugins or settings.tool_commands or hooks):
        return Extended(tuple(own))
    from agentsh.tools.plugins import HookedTool, Plugins, accepted, hooked

    taken = [offer.name for offer in own]
    commands = accepted([("settings", tool) for tool in _command_tools(settings)], taken)
    loaded = Plugins()
    if settings.plugins:
        from agentsh.tools.plugin_loader import load_plugins

        taken += [tool.schema.name for tool in commands.tools]
        loaded = load_plugins(settings.plugins, taken)
    watching: tuple[tuple[str, Hooks], ...] = (
        *_command_hooks(configuration, cwd, environ),
        *loaded.hooks,
    )
    extra = (*commands.tools, *loaded.tools)
    if watching:
        extra = tuple(HookedTool(tool, watching) for tool in extra)
    return Extended(hooked(own, watching), extra, (*commands.notices, *loaded.notices))


def _command_tools(settings: Settings) -> list[Tool]:
    if not settings.tool_commands:
        return []
    from agentsh.tools.commandtool import CommandTool, parse_command_spec

    tools: list[Tool] = []
    for name, table in settings.tool_commands.items():
        assert isinstance(table, Mapping)  # settingstext has looked
        try:
            tools.append(CommandTool(parse_command_spec(name, table)))
        except ValueError as e:
            place = settings.sources.get("tools.command", "settings")
            raise SettingsError(f"tools.command.{name}: {e}", file=place) from e
    return tools


def _command_hooks(
    configuration: Configuration, cwd: Path, environ: Mapping[str, str]
) -> list[tuple[str, Hooks]]:
    settings = configuration.settings
    if not (settings.before_tool or settings.after_tool):
        return []
    from agentsh.tools.commandhook import CommandHooks

    named = [
        *(("before_tool", command) for command in settings.before_tool),
        *(("after_tool", command) for command in settings.after_tool),
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
