"""What the events of a Codex rollout tell, for a file that holds none of the items. Pure.

That program writes most of what is said twice: as items, for the model, and as events, for people
who watch: `user_message` and `agent_message`, or, since 0.147, `item_completed` with either. The
items are the whole of it, calls too. A file of events alone (a hook's copy, an exported stream)
still has the words. It stands alone since codex.py is full and knows items only. Read next:
codex.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.session.exchange.foreign import string

_ROLES = {"UserMessage": "user", "AgentMessage": "assistant"}


def told(event: JsonObject) -> Iterator[JsonObject]:
    """The message item that an event tells of; nothing where it tells of none."""
    match event:
        case {"type": "user_message", "message": str(text)}:
            role = "user"
        case {"type": "agent_message", "message": str(text)}:
            role = "assistant"
        case {"type": "item_completed", "item": {"type": str(kind), "content": content}}:
            role, text = _ROLES.get(kind, ""), _joined(content)
        case _:
            return
    if role and text.strip():
        yield {"type": "message", "role": role, "content": [{"type": "text", "text": text}]}


def _joined(content: JsonValue) -> str:
    """The texts of content blocks, whatever case their types have."""
    blocks = content if isinstance(content, list) else ()
    return "\n".join(string(b.get("text")) for b in blocks if isinstance(b, dict) and b.get("text"))
