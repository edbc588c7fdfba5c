"""The JSON Schemas of what programs get, made from the classes that make it.

A schema takes more members than it names, since members are added; a kind of line that it does not
name is none. Its descriptions are the docstrings. It
stands alone because no run needs it. Pure. Read next: lines.py, sessions.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.json import schema_components

from agentsh.errors import UsageError
from agentsh.jsontext import JsonObject
from agentsh.remote.values.lines import EventLine, RunResult
from agentsh.remote.values.sessions import ListedSession

_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"


class _Published(Struct, frozen=True):
    title: str
    kind: Any
    """A type, as msgspec reads one."""


_PUBLISHED: Final[Mapping[str, _Published]] = {
    "events": _Published("one line of `agentsh run --output events`", EventLine),
    "result": _Published("what `agentsh run --output json` prints", RunResult),
    "sessions": _Published("what `agentsh sessions --json` prints", tuple[ListedSession, ...]),
}
NAMES: Final = tuple(_PUBLISHED)


def published_schema(name: str) -> JsonObject:
    """Raises UsageError: there is none of that name."""
    published = _PUBLISHED.get(name)
    if published is None:
        raise UsageError(f"there is no schema {name!r}", hint="one of: " + ", ".join(NAMES))
    (schema,), parts = schema_components([published.kind], ref_template="#/$defs/{name}")
    schema.pop("discriminator", None)  # a word of OpenAPI, which strict readers refuse
    return {"$schema": _DRAFT, "title": published.title, **schema, "$defs": parts}
