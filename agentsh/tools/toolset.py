"""Which tools the model is offered, and the one that a call means.

The order is fixed, so that the same choice gives the same request. A tool is offered by its schema;
its body is loaded when a call comes (docs/adr/0005). Building a set reads and starts nothing. Tools
of the user's own come last and never take the name of one of ours (plugins.py).
Read next: schemas.py, base.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

from msgspec import Struct

from agentsh.errors import InvalidArgumentsError, UsageError
from agentsh.messages import ToolSchema
from agentsh.tools.base import Tool


class Offer(Struct, frozen=True):
    """A tool as the model is told of it, and where its body is."""

    schema: ToolSchema
    load: Callable[[], Tool]

    @property
    def name(self) -> str:
        return self.schema.name


def offered(tool: Tool) -> Offer:
    """A tool that is loaded already."""
    return Offer(tool.schema, lambda: tool)


class Toolset(Struct, frozen=True):
    """The tools on offer, in the order in which the model is told of them."""

    offers: tuple[Offer, ...]

    @classmethod
    def of(cls, *tools: Tool) -> Self:
        return cls(tuple(offered(tool) for tool in tools))

    @classmethod
    def offering(
        cls,
        own: Sequence[Offer],
        names: str | None = None,
        *,
        none: bool = False,
        extra: Sequence[Tool] = (),
    ) -> Self:
        """All of them, only those named in `a,b`, or none. Raises UsageError for unknown names."""
        every = (*own, *(offered(tool) for tool in extra))
        if none:
            return cls(())
        if names is None:
            return cls(every)
        wanted = {name.strip() for name in names.split(",") if name.strip()}
        known = [offer.name for offer in every]
        unknown = sorted(wanted.difference(known))
        if unknown or not wanted:
            problem = f"there is no tool {', '.join(unknown)}" if unknown else "no tool is named"
            raise UsageError(f"--tools {names}: {problem}; the tools are: {', '.join(known)}")
        return cls(tuple(offer for offer in every if offer.name in wanted))

    def schemas(self) -> tuple[ToolSchema, ...]:
        return tuple(offer.schema for offer in self.offers)

    def find(self, name: str) -> Tool:
        """The tool of that name. Raises InvalidArgumentsError, which lists what there is."""
        for offer in self.offers:
            if offer.name == name:
                return offer.load()
        known = ", ".join(offer.name for offer in self.offers) or "none"
        raise InvalidArgumentsError(f"there is no tool {name!r}; the tools are: {known}")
