"""Which tools the model is offered, and the one that a call means.

The order is fixed, so that the same choice gives the same request. A tool is offered by its schema;
its body is loaded when a call comes (docs/adr/0005). Building a set reads and starts nothing. Tools
of the user's own come last and never take the name of one of ours (plugins.py).
Read next: schemas.py, base.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Self

from msgspec import Struct
from msgspec.structs import replace

from agentsh.errors import InvalidArgumentsError, UsageError
from agentsh.messages import ToolSchema
from agentsh.tools.base import Tool

ALL: Final = "all"
"""The word that takes a choice of tools back."""


class ServerWords(Struct, frozen=True):
    """What a server says of itself."""

    server: str
    words: str


class Offer(Struct, frozen=True):
    """A tool as the model is told of it, and where its body is."""

    schema: ToolSchema
    load: Callable[[], Tool]
    source: str = "agentsh"
    """Whose it is: ours, or of the user's own."""
    server: ServerWords | None = None
    """Where it is a server's that says how its tools are to be used."""

    @property
    def name(self) -> str:
        return self.schema.name


def offered(tool: Tool) -> Offer:
    """A tool that is loaded already."""
    return Offer(tool.schema, lambda: tool, "extension")


class Toolset(Struct, frozen=True):
    """The tools on offer, in the order in which the model is told of them."""

    offers: tuple[Offer, ...]
    every: tuple[Offer, ...] = ()
    """All that could be offered."""
    served: frozenset[str] = frozenset()
    """Which of them are tools of servers: those come and go between two prompts."""

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
        served: Sequence[Offer] = (),
    ) -> Self:
        """All of them (also by `all`), only those named in `a,b`, or none.

        Raises UsageError for unknown names.
        """
        whole = cls((), (*own, *(offered(tool) for tool in extra))).serving(served)
        every = whole.every
        if none:
            return whole
        if names is None or names.strip() == ALL:
            return whole.only(None)
        chosen = {name.strip() for name in names.split(",") if name.strip()}
        known_names = [offer.name for offer in every]
        unknown = sorted(chosen.difference(known_names))
        if unknown or not chosen:
            problem = f"there is no tool {', '.join(unknown)}" if unknown else "no tool is named"
            raise UsageError(f"--tools {names}: {problem}; the tools are: {', '.join(known_names)}")
        return whole.only(tuple(chosen))

    def only(self, names: Sequence[str] | None) -> Self:
        """The set with those of all its tools that are named. None: with all."""
        if names is None:
            return replace(self, offers=self.every)
        return replace(self, offers=tuple(o for o in self.every if o.name in names))

    def serving(self, offers: Sequence[Offer]) -> Self:
        """With these tools of servers instead of those; what is offered is chosen by `only`."""
        others = tuple(offer for offer in self.every if offer.name not in self.served)
        taken = {offer.name for offer in others}
        new = tuple(offer for offer in offers if offer.name not in taken)
        names = frozenset(offer.name for offer in new)
        return replace(self, every=(*others, *new), served=names)

    def missing(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of the names that are no tool here."""
        offered = {offer.name for offer in self.every}
        return tuple(name for name in names if name not in offered)

    def schemas(self) -> tuple[ToolSchema, ...]:
        return tuple(offer.schema for offer in self.offers)

    def names(self) -> tuple[str, ...]:
        """Of the same tools."""
        return tuple(schema.name for schema in self.schemas())

    def servers(self) -> tuple[ServerWords, ...]:
        """What the servers say of themselves whose tools are on offer."""
        return tuple(dict.fromkeys(o.server for o in self.offers if o.server is not None))

    def find(self, name: str) -> Tool:
        """The tool of that name. Raises InvalidArgumentsError, which lists what there is."""
        for offer in self.offers:
            if offer.name == name:
                return offer.load()
        listed = ", ".join(offer.name for offer in self.offers) or "none"
        raise InvalidArgumentsError(f"there is no tool {name!r}; the tools are: {listed}")
