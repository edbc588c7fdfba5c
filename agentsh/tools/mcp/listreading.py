"""The JSON of a server's list → its tools. Pure.

It is read leniently, entry by entry: what cannot be a tool is left out and named, the rest is
there. Descriptions come without control characters and what nobody sees, and are bounded. It stands
alone because a list that is kept was read already. Read next: listing.py, toolschema.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from agentsh.jsontext import (
    DEEPEST_FOREIGN,
    JsonError,
    JsonValue,
    clean,
    dumps,
    is_deeper,
)
from agentsh.tools.mcp.listing import ListedTool
from agentsh.tools.mcp.toolschema import as_endpoints_take_it, schema_fault

MOST_TOOLS: Final = 1000
_MOST_ODD: Final = 20
"""Entries that are named one by one as left out."""
_MOST_DESCRIPTION: Final = 4096
_MOST_SCHEMA: Final = 256 * 1024
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_UNFIT: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_TEXTS: Final = ("description", "title")


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
    more = len(odd) - _MOST_ODD
    warnings = odd if more <= 0 else [*odd[:_MOST_ODD], f"and {more} more like these"]
    return tuple(tools.values()), tuple(warnings)


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
    if (fault := schema_fault(dict(schema))) is not None:
        words = _CONTROL.sub("?", scrub(fault))[:100]
        return f"the tool {name} is left out: its schema is no JSON Schema ({words})"
    hints = entry.get("annotations")
    hints = hints if isinstance(hints, Mapping) else {}
    described = next(
        (text for text in (entry.get("description"), entry.get("title")) if isinstance(text, str)),
        "",
    )
    cleaned = _described(schema, scrub)
    assert isinstance(cleaned, dict)
    parameters = as_endpoints_take_it(cleaned)
    return ListedTool(
        name, given_text(described, scrub), parameters, hints.get("readOnlyHint") is True
    )


def given_text(text: str, scrub: Callable[[str], str]) -> str:
    """A description, or a server's instructions, as the model is given them."""
    seen = _CONTROL.sub("", scrub(clean(text)))
    data = seen.encode()
    if len(data) <= _MOST_DESCRIPTION:
        return seen
    return f"{data[:_MOST_DESCRIPTION].decode(errors='ignore')} …"


def _described(value: JsonValue, scrub: Callable[[str], str], key: str = "") -> JsonValue:
    """A schema with clean descriptions."""
    match value:
        case str():
            return given_text(value, scrub) if key in _TEXTS else clean(value)
        case Mapping():
            return {clean(name): _described(each, scrub, name) for name, each in value.items()}
        case Sequence():
            return [_described(each, scrub) for each in value]
        case _:
            return value
