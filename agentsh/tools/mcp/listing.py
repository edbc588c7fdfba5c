"""What a server offers: its list as values, and what is taken of it.

Pure. What was read (listreading.py) is what is kept (keptlists.py), shown and approved:
`ListedTool.digest` is of exactly that. Read next: names.py, host.py.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from agentsh.jsontext import (
    JsonObject,
    JsonValue,
    dumps,
)

Era: TypeAlias = Literal["handshake", "stateless"]
"""How a server is greeted: with `initialize`, or by `server/discover`."""


class ListedTool(Struct, frozen=True):
    """A tool as its server describes it. `reads`: the server says that it changes nothing."""

    name: str
    description: str
    parameters: JsonObject
    reads: bool = False

    def digest(self) -> str:
        """Of what a person or model was shown of it: another one is another tool."""
        shown: list[JsonValue] = [self.description, _ordered(self.parameters), self.reads]
        return hashlib.sha256(dumps(shown)).hexdigest()[:16]


class Listing(Struct, frozen=True):
    """All that a server offers, and how it was asked. `odd`: what was left out, in words."""

    tools: tuple[ListedTool, ...]
    era: Era
    protocol: str = ""
    server: str = ""
    version: str = ""
    odd: tuple[str, ...] = ()
    instructions: str = ""
    """What the server says of how its tools are to be used."""


class Choice(Struct, frozen=True):
    """What of a list is offered; `unused`: patterns that fit no tool."""

    tools: tuple[ListedTool, ...]
    unused: tuple[str, ...] = ()


def _ordered(value: JsonValue) -> JsonValue:
    """The same with members in one order: that of a server may differ from start to start."""
    match value:
        case str():
            return value
        case Mapping():
            return {name: _ordered(value[name]) for name in sorted(value)}
        case Sequence():
            return [_ordered(each) for each in value]
        case _:
            return value


def choose(listing: Listing, tools: Sequence[str] | None, exclude: Sequence[str]) -> Choice:
    """Those that fit `tools` (None: all), less those that fit `exclude`."""
    taken = {each.name for each in listing.tools if tools is None or _fits(each.name, tools)}
    left = tuple(t for t in listing.tools if t.name in taken and not _fits(t.name, exclude))
    unused = [
        pattern
        for pattern in (*(tools or ()), *exclude)
        if not any(_is_fit(pattern, each.name) for each in listing.tools)
    ]
    return Choice(left, tuple(unused))


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(_is_fit(pattern, name) for pattern in patterns)


def _is_fit(pattern: str, name: str) -> bool:
    """Whether a name is what a pattern says; `*` stands for any characters, all else for itself."""
    expression = ".*".join(re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(expression, name, re.DOTALL) is not None


def difference_words(before: Listing, after: Listing) -> str:
    """What differs, in one line: `+ new, - gone, changed other`."""
    old = {tool.name: tool for tool in before.tools}
    new = {tool.name: tool for tool in after.tools}
    parts = [
        *(f"+ {name}" for name in new if name not in old),
        *(f"- {name}" for name in old if name not in new),
        *(f"changed {name}" for name in new if name in old and new[name] != old[name]),
    ]
    more = f", and {len(parts) - 12} more" if len(parts) > 12 else ""
    return ", ".join(parts[:12]) + more
