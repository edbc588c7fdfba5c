"""`@tool(…)`: what a function says of itself as a tool. Pure.

It stands alone: whoever marks a function needs none of what reads its signature (signature.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar, overload

from msgspec import Struct

from agentsh.tools.base import Effect

_Function = TypeVar("_Function", bound=Callable[..., Any])
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MARK: Final = "__agentsh_tool__"


class ToolMark(Struct, frozen=True):
    """What is not in the signature."""

    name: str | None = None
    asks: bool = False
    effect: Effect = Effect.UNKNOWN


@overload
def tool(function: _Function, /) -> _Function: ...
@overload
def tool(
    *, name: str | None = None, ask: bool = False, effect: str = "unknown"
) -> Callable[[_Function], _Function]: ...
def tool(
    function: _Function | None = None,
    /,
    *,
    name: str | None = None,
    ask: bool = False,
    effect: str = "unknown",
) -> _Function | Callable[[_Function], _Function]:
    """Say of a function what its signature does not: a name, its worst effect, whether to ask.

    `effect`: read, write, exec or unknown. `ask`: judged by the policy, and asked about, like a
    tool of agentsh. Raises TypeError, ValueError.
    """
    if name is not None and not is_tool_name(name):
        raise ValueError(f"{name!r} is no name for a tool: letters, digits, _ and -, 64 at most")
    mark = ToolMark(name, ask, Effect(effect))

    def marked(function: _Function) -> _Function:
        setattr(function, _MARK, mark)
        return function

    if function is None:
        return marked
    if not callable(function):
        raise TypeError("@tool takes its arguments by name: @tool(name=…, ask=…, effect=…)")
    return marked(function)


def is_tool_name(name: str) -> bool:
    """Whether every endpoint takes a tool of that name."""
    return _NAME.fullmatch(name) is not None


def mark_of(function: object) -> ToolMark:
    """What `tool` said of it."""
    mark = getattr(function, _MARK, None)
    return mark if isinstance(mark, ToolMark) else ToolMark()
