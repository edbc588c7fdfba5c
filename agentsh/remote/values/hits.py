"""A hit of a search, as a value. Pure.

It stands alone: whoever asks for it loads no other value. Read next: session/search/search.py.
"""

from __future__ import annotations

from agentsh.jsontext import JsonObject
from agentsh.session.search.search import Hit


def hit_json(hit: Hit) -> JsonObject:
    return {
        "session": hit.session,
        "path": str(hit.path),
        "entry": hit.entry,
        "role": hit.role,
        "text": hit.text,
        "onPath": hit.on_path,
        "place": hit.place,
        "type": hit.type,
        "time": hit.time,
        "line": hit.line,
        "tools": list(hit.tools),
        "cwd": hit.cwd,
        "name": hit.name,
        "archived": hit.path.name.endswith(".zst"),
    }
