"""Load plugins by their entry points (group `agentsh.tools`) with pluggy. The only pluggy.

Only those that the user's settings name are loaded: an installed package alone runs nothing. Import
this module only where a plugin is configured: pluggy and importlib.metadata cost start-up. A plugin
that cannot be loaded is a notice, not an error. Read first: plugins.py.

A plugin module, registered as `[project.entry-points."agentsh.tools"] tickets = "tickets.agentsh"`:

    from agentsh.tools.plugin_loader import hookimpl

    @hookimpl
    def agentsh_tools():
        return [TicketTool()]

    @hookimpl
    def agentsh_before_tool(tool, arguments, context):
        return "not on Fridays" if tool == "bash" and is_friday() else None
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from typing import Final

import pluggy
from msgspec import Struct
from msgspec.structs import replace

from agentsh.jsontext import JsonObject
from agentsh.tools.base import Tool, ToolContext, ToolOutcome
from agentsh.tools.plugins import Plugins, accepted

GROUP: Final = "agentsh.tools"
hookspec = pluggy.HookspecMarker("agentsh")
hookimpl = pluggy.HookimplMarker("agentsh")


class PluginSpec:
    """What a plugin may define; each is optional."""

    @hookspec
    def agentsh_tools(self) -> Sequence[Tool]:  # type: ignore[empty-body]
        """Tools to offer beside ours."""

    @hookspec
    def agentsh_before_tool(
        self, tool: str, arguments: JsonObject, context: ToolContext
    ) -> str | None:
        """Words that refuse a call that was approved, or None."""

    @hookspec
    def agentsh_after_tool(
        self, tool: str, arguments: JsonObject, outcome: ToolOutcome
    ) -> str | None:
        """A note for the model to add to the result, or None."""


class _PluginHooks(Struct, frozen=True):
    """One plugin's hooks, called by pluggy with those arguments that it asks for."""

    caller: pluggy.PluginManager

    def before(self, tool: str, arguments: JsonObject, context: ToolContext) -> str | None:
        answers = self.caller.hook.agentsh_before_tool(
            tool=tool, arguments=arguments, context=context
        )
        return next((str(words) for words in answers if words is not None), None)

    def after(self, tool: str, arguments: JsonObject, outcome: ToolOutcome) -> str | None:
        answers = self.caller.hook.agentsh_after_tool(
            tool=tool, arguments=arguments, outcome=outcome
        )
        return next((str(words) for words in answers if words is not None), None)


def load_plugins(names: Sequence[str], taken: Sequence[str]) -> Plugins:
    """The plugins of these entry points, in this order; `taken` are tool names already in use."""
    points = {point.name: point for point in metadata.entry_points(group=GROUP)}
    loaded: list[tuple[str, object]] = []
    notices: list[str] = []
    for name in names:
        if name not in points:
            known = ", ".join(sorted(points)) or "none"
            notices.append(f"plugin {name} is not installed; installed are: {known}")
            continue
        try:
            loaded.append((name, points[name].load()))
        except (Exception, SystemExit) as e:  # noqa: BLE001  a stranger's code
            notices.append(f"plugin {name} could not be loaded: {type(e).__name__}: {e}")
    plugins = collect(loaded, taken)
    return replace(plugins, notices=(*notices, *plugins.notices))


def collect(plugins: Sequence[tuple[str, object]], taken: Sequence[str]) -> Plugins:
    """Tools and hooks of (name, module or object). A manager each: one failing stops no other."""
    tools: list[tuple[str, Tool]] = []
    hooks: list[tuple[str, _PluginHooks]] = []
    notices: list[str] = []
    for name, plugin in plugins:
        manager = pluggy.PluginManager("agentsh")
        manager.add_hookspecs(PluginSpec)
        try:
            manager.register(plugin, name)
            manager.check_pending()
            for offered in manager.hook.agentsh_tools():
                tools += [(name, tool) for tool in offered]
        except (Exception, SystemExit) as e:  # noqa: BLE001  a stranger's code
            notices.append(f"plugin {name} could not be used: {type(e).__name__}: {e}")
            continue
        watched = (manager.hook.agentsh_before_tool, manager.hook.agentsh_after_tool)
        if any(caller.get_hookimpls() for caller in watched):
            hooks.append((name, _PluginHooks(manager)))
    good = accepted(tools, taken)
    return Plugins(good.tools, tuple(hooks), (*notices, *good.notices))
