"""The lists that servers gave, kept: a file for each, named by a digest of its settings, 0600.

A cache, and no more: what is missing, damaged or of another form is asked for anew. A disk that
refuses costs the next session a start of the server. Read next: listing.py.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final, cast

from msgspec import Struct, ValidationError, convert, to_builtins

from agentsh.files import read_foreign, write_private
from agentsh.jsontext import JsonError, JsonObject, dumps, loads_object
from agentsh.tools.mcp.definition import Server
from agentsh.tools.mcp.listing import Era, ListedTool, Listing

_FORM: Final = 3
_MOST: Final = 64 << 20


class _Tool(Struct, frozen=True):
    name: str
    description: str
    parameters: dict[str, object]
    reads: bool


class _List(Struct, frozen=True):
    """A list as its file says it: JSON below the names that are ours."""

    tools: tuple[_Tool, ...]
    era: Era
    protocol: str
    server: str
    version: str
    odd: tuple[str, ...]
    instructions: str


class KeptLists(Struct, frozen=True):
    """The lists of one user."""

    folder: Path

    def find(self, server: Server) -> Listing | None:
        """What that server offered when it was last asked."""
        try:
            data = loads_object(read_foreign(self._file(server), _MOST, follow=False))
            return _listing(convert(data["listing"], _List)) if data["form"] == _FORM else None
        except (OSError, JsonError, KeyError, ValidationError):
            return None

    def keep(self, server: Server, listing: Listing) -> None:
        value = {"form": _FORM, "name": server.name, "listing": to_builtins(listing)}
        with suppress(OSError, JsonError):
            write_private(self._file(server), dumps(value))

    def _file(self, server: Server) -> Path:
        return self.folder / f"{server.digest[:32]}.json"


def _listing(stored: _List) -> Listing:
    tools = tuple(
        ListedTool(t.name, t.description, cast("JsonObject", t.parameters), t.reads)
        for t in stored.tools
    )
    return Listing(
        tools,
        stored.era,
        stored.protocol,
        stored.server,
        stored.version,
        stored.odd,
        stored.instructions,
    )
