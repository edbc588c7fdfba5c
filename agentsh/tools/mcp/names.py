"""The names under which tools of servers are offered: `mcp__SERVER__TOOL`. Pure.

Endpoints take 64 characters of letters, digits, `_` and `-`. Whatever is longer, or would stand
there twice, is cut and ends in a digest of server and tool, for all of those concerned; so a name
depends on the set of tools, and never on their order. Read next: listing.py.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

_PREFIX: Final = "mcp__"
_LONGEST: Final = 64
_DIGEST: Final = 8
_OTHER: Final = re.compile(r"[^A-Za-z0-9_-]")

ServerTool: TypeAlias = tuple[str, str]
"""A server's name and its tool's own one."""


def offered_names(tools: Iterable[ServerTool]) -> Mapping[ServerTool, str]:
    """Each tool's name; no two are the same."""
    plain = {tool: _plain(tool) for tool in tools}
    digested: set[ServerTool] = {tool for tool, name in plain.items() if len(name) > _LONGEST}
    while True:
        names = {
            tool: _digested(tool, name) if tool in digested else name
            for tool, name in plain.items()
        }
        often = Counter(names.values())
        concerned = {tool for tool, name in names.items() if often[name] > 1} - digested
        if not concerned:
            return names
        digested |= concerned  # a plain name may be the one that a digest made of another


def is_server_tool(name: str) -> bool:
    """Whether a tool's name may be that of a server's tool."""
    return name.startswith(_PREFIX)


def _plain(tool: ServerTool) -> str:
    server, own = tool
    return f"{_PREFIX}{_OTHER.sub('_', server)}__{_OTHER.sub('_', own)}"


def _digested(tool: ServerTool, name: str) -> str:
    digest = hashlib.sha256("\0".join(tool).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{name[: _LONGEST - _DIGEST - 1]}_{digest[:_DIGEST]}"
