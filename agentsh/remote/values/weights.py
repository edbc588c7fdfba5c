"""What fills the window, as a value. Pure.

As a table with bars it is ui/text/weights.py's; what it weighs is context/weights.py's.
It stands alone: whoever asks for it loads no other value.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentsh.context.weights import Weights
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.session.format.entries import Entry
from agentsh.views.treeitem import item_of


def context_json(weights: Weights, path: Sequence[Entry]) -> JsonObject:
    """`path` holds the entries that are named."""
    items = {entry.id: item_of(entry, None) for entry in path}
    sections: list[JsonValue] = [{"name": s.name, "tokens": s.tokens} for s in weights.sections]
    entries: list[JsonValue] = [
        {"entry": h.entry, "role": h.role, "tokens": h.tokens, "text": items[h.entry].text}
        for h in weights.heaviest
    ]
    return {
        "window": weights.room.window,
        "tokens": weights.tokens,
        "measured": weights.measured,
        "sections": sections,
        "entries": entries,
        "reserve": weights.room.reserve,
        "keep": weights.room.keep,
        "kept": weights.kept,
    }
