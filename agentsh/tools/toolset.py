"""Which tools the model is offered, and the one that a call means.

The order is fixed, so that the same choice gives the same request. Building it reads and starts
nothing. Tools of the user's own come last and never take the name of one of ours (plugins.py).
Read next: base.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from msgspec import Struct

from agentsh.errors import InvalidArgumentsError, UsageError
from agentsh.messages import ToolSchema
from agentsh.tools.base import Tool
from agentsh.tools.bash import BashTool
from agentsh.tools.edit import EditTool
from agentsh.tools.find import FindTool
from agentsh.tools.grep import GrepTool
from agentsh.tools.jobs import JobsTool
from agentsh.tools.ls import LsTool
from agentsh.tools.read import ReadTool
from agentsh.tools.write import WriteTool


def own_tools() -> tuple[Tool, ...]:
    """All tools of agentsh."""
    return (
        ReadTool(),
        WriteTool(),
        EditTool(),
        BashTool(),
        GrepTool(),
        FindTool(),
        LsTool(),
        JobsTool(),
    )


class Toolset(Struct, frozen=True):
    """The tools on offer, in the order in which the model is told of them."""

    tools: tuple[Tool, ...]

    @classmethod
    def offering(
        cls, names: str | None = None, *, none: bool = False, extra: Sequence[Tool] = ()
    ) -> Self:
        """All of them, only those named in `a,b`, or none. Raises UsageError for unknown names."""
        every = (*own_tools(), *extra)
        if none:
            return cls(())
        if names is None:
            return cls(every)
        wanted = {name.strip() for name in names.split(",") if name.strip()}
        known = [tool.schema.name for tool in every]
        unknown = sorted(wanted.difference(known))
        if unknown or not wanted:
            problem = f"there is no tool {', '.join(unknown)}" if unknown else "no tool is named"
            raise UsageError(f"--tools {names}: {problem}; the tools are: {', '.join(known)}")
        return cls(tuple(tool for tool in every if tool.schema.name in wanted))

    def schemas(self) -> tuple[ToolSchema, ...]:
        return tuple(tool.schema for tool in self.tools)

    def find(self, name: str) -> Tool:
        """The tool of that name. Raises InvalidArgumentsError, which lists what there is."""
        for tool in self.tools:
            if tool.schema.name == name:
                return tool
        known = ", ".join(tool.schema.name for tool in self.tools) or "none"
        raise InvalidArgumentsError(f"there is no tool {name!r}; the tools are: {known}")
