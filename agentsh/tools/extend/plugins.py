"""The user's own tools and hooks: the seam they are written against, and the guard around them.

A plugin is anything registered with pluggy (plugin_loader.py) that has one or more of the functions
of `PluginSpec`, marked with `hookimpl`. Whatever it raises becomes an error result that names it
(`GuardedTool`), never a crash of ours; a hook that fails before a call refuses the call, because it
may be a guard; one that fails after it adds a note. This module knows nothing of pluggy, so that a
start without plugins does not pay for it. Read next: plugin_loader.py, commandtool.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from agentsh.errors import ToolDeniedError, ToolError, ToolFailedError
from agentsh.jsontext import (
    DEEPEST_FOREIGN,
    JsonError,
    JsonObject,
    JsonValue,
    dumps,
    is_deeper,
)
from agentsh.messages import Text, ToolSchema
from agentsh.tools.base import (
    EditorTexts,
    Effect,
    HandedOver,
    Previews,
    Rewrites,
    Rewritten,
    Served,
    ServedTool,
    Tool,
    ToolContext,
    ToolOutcome,
)
from agentsh.tools.extend.turnhooks import TurnHook
from agentsh.tools.toolset import Offer


class Hooks(Protocol):
    """What is called around every tool call, ours and theirs."""

    def before(self, tool: str, arguments: JsonObject, context: ToolContext) -> str | None:
        """Words that refuse the call, or None. Called after the approval, before the effect."""

    def after(self, tool: str, arguments: JsonObject, outcome: ToolOutcome) -> str | None:
        """A note to add to the result, or None. Called whatever the outcome is."""


class Plugins(Struct, frozen=True):
    """What was loaded. `notices`: what was not, and why."""

    tools: tuple[Tool, ...] = ()
    hooks: tuple[tuple[str, Hooks], ...] = ()
    """(name of the plugin, its hooks)"""
    notices: tuple[str, ...] = ()
    turns: tuple[tuple[str, TurnHook], ...] = ()
    """(name for people, hooks around a turn)"""


def accepted(tools: Sequence[tuple[str, Tool]], taken: Sequence[str]) -> Plugins:
    """Tools of (plugin, tool) that may be offered: well described, and no name twice."""
    names = set(taken)
    good: list[Tool] = []
    notices: list[str] = []
    for plugin, tool in tools:
        try:
            schema = tool.schema
            name, description = schema.name, schema.description
            unfit = _unfit(schema.parameters)
            effect = Effect(tool.effect)
        except (Exception, SystemExit) as e:  # noqa: BLE001  a stranger's code
            notices.append(f"plugin {plugin}: a tool was left out: {_words(e)}")
            continue
        if unfit is not None:
            notices.append(f"plugin {plugin}: the tool {name!r} was left out: its schema {unfit}")
            continue
        if not name.isidentifier() or not description or name in names:
            why = (
                "its name is taken" if name in names else "it needs a plain name and a description"
            )
            notices.append(f"plugin {plugin}: the tool {name!r} was left out: {why}")
            continue
        names.add(name)
        good.append(GuardedTool(plugin, tool, schema, effect))
    return Plugins(tools=tuple(good), notices=tuple(notices))


class GuardedTool(Struct, frozen=True):
    """A plugin's tool: the same, but nothing but ToolError leaves it."""

    plugin: str
    inner: Tool
    schema: ToolSchema
    effect: Effect

    def check(self, arguments: JsonObject) -> JsonObject:
        try:
            checked = self.inner.check(arguments)
        except (Exception, SystemExit) as e:
            raise self._error(e) from e
        self._must_fit(checked, "what check returned")
        return checked

    def touches(self, arguments: JsonObject, cwd: Path, home: Path) -> tuple[Path, ...]:
        try:
            return tuple(self.inner.touches(arguments, cwd, home))
        except (Exception, SystemExit) as e:
            raise self._error(e) from e

    def expect(self, arguments: JsonObject, context: ToolContext) -> Mapping[str, str] | None:
        try:
            return self.inner.expect(arguments, context)
        except (Exception, SystemExit) as e:
            raise self._error(e) from e

    def run(self, arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        try:
            outcome = self.inner.run(arguments, context)
        except (Exception, SystemExit) as e:
            raise self._error(e) from e
        if not isinstance(outcome, ToolOutcome):  # what a type checker would have told them
            raise self._error(TypeError(f"run returned {type(outcome).__name__}"))
        self._must_fit(outcome.details, "its details")
        return outcome

    def _must_fit(self, value: JsonValue, what: str) -> None:
        if (unfit := _unfit(value)) is not None:
            raise self._error(ToolFailedError(f"{self.schema.name}: {what} {unfit}"))

    def _error(self, error: BaseException) -> ToolError:
        if isinstance(error, ToolError):
            return error
        name = self.schema.name
        return ToolFailedError(f"{name} (plugin {self.plugin}) failed: {_words(error)}")


class HookedTool(Struct, frozen=True):
    """Any tool with hooks around its run."""

    inner: Tool
    hooks: tuple[tuple[str, Hooks], ...]

    @property
    def schema(self) -> ToolSchema:
        return self.inner.schema

    @property
    def effect(self) -> Effect:
        return self.inner.effect

    @property
    def served(self) -> ServedTool | None:
        return self.inner.served if isinstance(self.inner, Served) else None

    @property
    def is_agreed(self) -> bool:
        return isinstance(self.inner, HandedOver) and self.inner.is_agreed

    def check(self, arguments: JsonObject) -> JsonObject:
        return self.inner.check(arguments)

    def touches(self, arguments: JsonObject, cwd: Path, home: Path) -> tuple[Path, ...]:
        return self.inner.touches(arguments, cwd, home)

    def expect(self, arguments: JsonObject, context: ToolContext) -> Mapping[str, str] | None:
        return self.inner.expect(arguments, context)

    def preview(
        self, arguments: JsonObject, cwd: Path, home: Path, editor_texts: EditorTexts | None = None
    ) -> str | None:
        inner = self.inner
        if not isinstance(inner, Previews):
            return None
        return inner.preview(arguments, cwd, home, editor_texts)

    def rewritten(
        self,
        arguments: JsonObject,
        cwd: Path,
        home: Path,
        most: int,
        editor_texts: EditorTexts | None = None,
    ) -> Rewritten | None:
        inner = self.inner
        if not isinstance(inner, Rewrites):
            return None
        return inner.rewritten(arguments, cwd, home, most, editor_texts)

    def run(self, arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        name = self.inner.schema.name
        for plugin, hooks in self.hooks:
            try:
                reason = hooks.before(name, arguments, context)
            except (Exception, SystemExit) as e:  # noqa: BLE001  a stranger's code
                reason = f"its check failed: {_words(e)}"
            if reason is not None:
                raise ToolDeniedError(f"{name} was refused by plugin {plugin}: {reason}")
        try:
            outcome = self.inner.run(arguments, context)
        except ToolError as e:
            self._tell(name, arguments, ToolOutcome((Text(str(e)),), is_error=True))
            raise
        notes = self._tell(name, arguments, outcome)
        if not notes:
            return outcome
        return replace(outcome, content=(*outcome.content, Text("\n".join(notes))))

    def _tell(self, name: str, arguments: JsonObject, outcome: ToolOutcome) -> list[str]:
        notes: list[str] = []
        for plugin, hooks in self.hooks:
            try:
                note = hooks.after(name, arguments, outcome)
            except (Exception, SystemExit) as e:  # noqa: BLE001  a stranger's code
                note = f"its hook failed: {_words(e)}"
            if note:
                notes.append(f"[plugin {plugin}: {note}]")
        return notes


def hooked(offers: Sequence[Offer], hooks: tuple[tuple[str, Hooks], ...]) -> tuple[Offer, ...]:
    """The tools with hooks around each, or as they are where there are none."""
    return tuple(_hooked(offer, hooks) for offer in offers) if hooks else tuple(offers)


def _hooked(offer: Offer, hooks: tuple[tuple[str, Hooks], ...]) -> Offer:
    return Offer(offer.schema, lambda: HookedTool(offer.load(), hooks), server=offer.server)


def _unfit(value: JsonValue) -> str | None:
    """Why a value of a stranger's cannot be stored or sent inside ours; None: it can."""
    try:
        data = dumps(value)
    except (JsonError, RecursionError, TypeError) as e:
        return f"cannot be kept: {e}"
    if is_deeper(data, DEEPEST_FOREIGN):
        return f"cannot be kept: nested deeper than {DEEPEST_FOREIGN} levels"
    return None


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
