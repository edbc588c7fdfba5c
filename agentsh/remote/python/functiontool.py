"""A function as a tool: its signature is the schema, its result or exception the model's.

Code handed it over, so its calls need no question unless it was marked so (`marking.py`). What is
no Exception (Ctrl-C) goes through: it is kept for whoever runs the turn, and the turn stops.
Read next: signature.py, tools/base.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from agentsh.errors import ToolAbortedError, ToolError, ToolFailedError
from agentsh.jsontext import JsonObject, clean, dumps_text
from agentsh.messages import Image, Text, ToolSchema, UserBlock
from agentsh.remote.python.breakage import Breakage
from agentsh.remote.python.kinds import built_members, normalized_members, schema_of_members
from agentsh.remote.python.marking import is_tool_name, mark_of
from agentsh.remote.python.signature import parameters_of
from agentsh.tools.base import Effect, ToolContext, ToolOutcome


class FunctionTool:
    """One function. Raises TypeError where it cannot be a tool."""

    def __init__(self, function: Callable[..., Any], breakage: Breakage) -> None:
        if not callable(function):
            raise TypeError(f"a tool is a function, and {function!r} is none")
        mark = mark_of(function)
        name = mark.name or str(getattr(function, "__name__", ""))
        if not is_tool_name(name):
            raise TypeError(f"{name or function!r} is no name for a tool: @tool(name=…) gives one")
        self._function = function
        self._breakage = breakage
        self._members = parameters_of(function)
        self._schema = ToolSchema(name, _description(function), schema_of_members(self._members))
        self._effect = mark.effect
        self._asks = mark.asks

    @property
    def schema(self) -> ToolSchema:
        return self._schema

    @property
    def effect(self) -> Effect:
        return self._effect

    @property
    def is_agreed(self) -> bool:
        return not self._asks

    def check(self, arguments: JsonObject) -> JsonObject:
        return normalized_members(self._members, arguments, self._schema.name)

    def touches(self, arguments: JsonObject, cwd: Path, home: Path) -> tuple[Path, ...]:
        return ()

    def expect(self, arguments: JsonObject, context: ToolContext) -> Mapping[str, str] | None:
        return None

    def run(self, arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        try:
            value = self._function(**built_members(self._members, arguments))
            return ToolOutcome(_content(value))
        except ToolError:
            raise
        except Exception as e:
            raise ToolFailedError(f"{type(e).__name__}: {e}") from e
        except BaseException as e:
            self._breakage.take(e)
            context.abort.set()
            raise ToolAbortedError(f"{self._schema.name} was stopped: {type(e).__name__}") from e


def _description(function: Callable[..., Any]) -> str:
    """The first paragraph of what it says of itself."""
    paragraph = (inspect.getdoc(function) or "").strip().split("\n\n")[0]
    return clean(" ".join(paragraph.split()))


def _content(value: Any) -> tuple[UserBlock, ...]:
    """A text as it is, pictures as such (also in a list with texts), all else as JSON."""
    match value:
        case str():
            return (Text(clean(value)),)
        case Image():
            return (value,)
        case list() | tuple() if any(isinstance(each, Image) for each in value):
            return tuple(block for each in value for block in _content(each))
        case _:
            return (Text(dumps_text(to_builtins(value, str_keys=True))),)
