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

import threading
from collections.abc import Sequence
from importlib import metadata
from typing import Final

import pluggy
from msgspec import Struct
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.jsontext import JsonObject
from agentsh.tools.base import Tool, ToolContext, ToolOutcome
from agentsh.tools.extend.plugins import Plugins, accepted
from agentsh.tools.extend.turnhooks import EndedTurn, HookAnswer

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

    @hookspec
    def agentsh_before_prompt(self, prompt: str) -> str | None:
        """Text that goes with a prompt, or None. RefusedError refuses the prompt."""

    @hookspec
    def agentsh_after_turn(self, status: str, answer: str) -> str | None:
        """Text for the person, or None. The words of a RefusedError are the next prompt."""

    @hookspec
    def agentsh_on_question(self, tool: str, arguments: JsonObject, shown: str) -> None:
        """Somebody is waited for. Called in a thread of its own."""


class _PluginHooks(Struct, frozen=True):
    """One plugin's hooks, called by pluggy with those arguments that it asks for."""

    caller: pluggy.PluginManager

    def before(self, tool: str, arguments: JsonObject, context: ToolContext) -> str | None:
        answers = self.caller.hook.agentsh_before_tool(
            tool=tool, arguments=arguments, context=context
        )
        return next((str(answer) for answer in answers if answer is not None), None)

    def after(self, tool: str, arguments: JsonObject, outcome: ToolOutcome) -> str | None:
        answers = self.caller.hook.agentsh_after_tool(
            tool=tool, arguments=arguments, outcome=outcome
        )
        return next((str(answer) for answer in answers if answer is not None), None)


class _PluginTurns(Struct, frozen=True):
    """Satisfies TurnHook: one plugin's hooks around a turn."""

    caller: pluggy.PluginManager

    def before_prompt(self, prompt: str, abort: Abort) -> HookAnswer | None:
        return _told(self.caller.hook.agentsh_before_prompt(prompt=prompt))

    def after_turn(
        self, ended: EndedTurn, abort: Abort, seconds: float | None
    ) -> HookAnswer | None:
        hook = self.caller.hook.agentsh_after_turn
        return _told(hook(status=ended.status, answer=ended.answer))

    def on_question(self, tool: str, arguments: JsonObject, shown: str) -> None:
        hook = self.caller.hook.agentsh_on_question
        if hook.get_hookimpls():
            given = {"tool": tool, "arguments": arguments, "shown": shown}
            threading.Thread(target=hook, kwargs=given, daemon=True).start()


def _told(answers: Sequence[object]) -> HookAnswer | None:
    texts = [str(words) for words in answers if words is not None]
    return HookAnswer("\n".join(texts)) if texts else None


def load_plugins(names: Sequence[str], taken: Sequence[str]) -> Plugins:
    """The plugins of these entry points, in this order; `taken` are tool names already in use."""
    points = {point.name: point for point in metadata.entry_points(group=GROUP)}
    loaded: list[tuple[str, object]] = []
    notices: list[str] = []
    for name in names:
        if name not in points:
            installed = ", ".join(sorted(points)) or "none"
            notices.append(f"plugin {name} is not installed; installed are: {installed}")
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
    turns: list[tuple[str, _PluginTurns]] = []
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
        named = ("before_prompt", "after_turn", "on_question")
        if any(getattr(manager.hook, f"agentsh_{each}").get_hookimpls() for each in named):
            turns.append((f"plugin {name}", _PluginTurns(manager)))
    good = accepted(tools, taken)
    return Plugins(good.tools, tuple(hooks), (*notices, *good.notices), tuple(turns))
