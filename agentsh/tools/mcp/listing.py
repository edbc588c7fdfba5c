"""What a server offers: its list as values, from the JSON that it sent, and what is taken of it.

Pure. A list is read leniently, entry by entry: what cannot be a tool is left out and named, the
rest is there. Descriptions come without control characters and what nobody sees, and are bounded.
What was read is what is kept (keptlists.py), shown and approved: `ListedTool.digest` is of exactly
that. Read next: names.py, host.py.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from agentsh.jsontext import (
    DEEPEST_FOREIGN,
    JsonError,
    JsonObject,
    JsonValue,
    clean,
    dumps,
    is_deeper,
)

Era: TypeAlias = Literal["handshake", "stateless"]
"""How a server is greeted: with `initialize`, or by `server/discover`."""

MOST_TOOLS: Final = 1000
_MOST_DESCRIPTION: Final = 4096
_MOST_SCHEMA: Final = 256 * 1024
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_UNFIT: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_TEXTS: Final = ("description", "title")


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


class Choice(Struct, frozen=True):
    """What of a list is offered; `unused`: patterns that fit no tool."""

    tools: tuple[ListedTool, ...]
    unused: tuple[str, ...] = ()


def read_tools(
    entries: Iterable[JsonValue], scrub: Callable[[str], str]
) -> tuple[tuple[ListedTool, ...], tuple[str, ...]]:
    """The tools of a `tools/list`, and what was left out. `scrub` takes out what nobody sees."""
    tools: dict[str, ListedTool] = {}
    odd: list[str] = []
    for entry in entries:
        if len(tools) == MOST_TOOLS:
            odd.append(f"it lists more than {MOST_TOOLS} tools: the others are left out")
            break
        read = _read(entry, scrub)
        if isinstance(read, str):
            odd.append(read)
        elif read.name in tools:
            odd.append(f"it lists the tool {read.name} twice: the first one counts")
        else:
            tools[read.name] = read
    return tuple(tools.values()), tuple(odd)


def _read(entry: JsonValue, scrub: Callable[[str], str]) -> ListedTool | str:
    """One entry, or why it is left out."""
    if not isinstance(entry, Mapping) or not isinstance(name := entry.get("name"), str):
        return "an entry of its list is no tool, and is left out"
    if not name or len(name) > 256 or _UNFIT.search(name) or scrub(name) != name:
        return f"the tool {_CONTROL.sub('?', scrub(name))[:60]!r} is left out: no name can be so"
    schema = entry.get("inputSchema")
    if not isinstance(schema, Mapping) or schema.get("type", "object") != "object":
        return f"the tool {name} is left out: its schema is not that of an object"
    try:
        data = dumps(schema)
    except JsonError:
        return f"the tool {name} is left out: its schema cannot be sent"
    if len(data) > _MOST_SCHEMA or is_deeper(data, DEEPEST_FOREIGN):
        return f"the tool {name} is left out: its schema is too large"
    hints = entry.get("annotations")
    hints = hints if isinstance(hints, Mapping) else {}
    described = next(
        (text for text in (entry.get("description"), entry.get("title")) if isinstance(text, str)),
        "",
    )
    cleaned = _described(schema, scrub)
    assert isinstance(cleaned, dict)
    parameters: JsonObject = {"type": "object", "properties": {}, **cleaned}
    return ListedTool(name, _text(described, scrub), parameters, hints.get("readOnlyHint") is True)


def _text(text: str, scrub: Callable[[str], str]) -> str:
    """A description as the model is given it."""
    seen = _CONTROL.sub("", scrub(clean(text)))
    data = seen.encode()
    if len(data) <= _MOST_DESCRIPTION:
        return seen
    return f"{data[:_MOST_DESCRIPTION].decode(errors='ignore')} …"


def _described(value: JsonValue, scrub: Callable[[str], str], key: str = "") -> JsonValue:
    """A schema with clean descriptions."""
    match value:
        case str():
            return _text(value, scrub) if key in _TEXTS else clean(value)
        case Mapping():
            return {clean(name): _described(each, scrub, name) for name, each in value.items()}
        case Sequence():
            return [_described(each, scrub) for each in value]
        case _:
            return value


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
