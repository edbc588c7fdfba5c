"""Reasoning in chat completions: the names it comes under, and how it goes back (E28, E29). Pure.

A Thinking block's signature is the name of the field it came in. `reasoning_details` (OpenRouter)
are kept whole in the block's `extra`, since they may be signed or encrypted. Whether anything goes
back is the shape's (`reasoning_echo`); that it goes to the model that gave it and to no other, the
outbound pass's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import AssistantMessage, Thinking
from agentsh.providers.api.echoes import echoes_of

REASONING_FIELDS: Final = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
DETAILS: Final = "reasoning_details"


class DetailsMerger:
    """Pieces of `reasoning_details` with one index and type are one detail."""

    def __init__(self) -> None:
        self._pieces: dict[tuple[JsonValue, JsonValue], dict[str, list[str]]] = {}
        self._whole: dict[tuple[JsonValue, JsonValue], JsonObject] = {}

    def __bool__(self) -> bool:
        return bool(self._whole)

    def add(self, details: Sequence[JsonValue]) -> None:
        for position, detail in enumerate(details):
            if not isinstance(detail, dict):
                continue
            index = detail.get("index")
            key = (index if isinstance(index, int) else f"{position}", str(detail.get("type")))
            whole = self._whole.setdefault(key, {})
            pieces = self._pieces.setdefault(key, {})
            for name, value in detail.items():
                if name in ("text", "summary", "data") and isinstance(value, str):
                    pieces.setdefault(name, []).append(value)
                    whole.setdefault(name, "")
                elif value is not None or name not in whole:
                    whole[name] = value

    def merged(self) -> list[JsonValue]:
        return [
            {
                k: "".join(self._pieces[key][k]) if k in self._pieces[key] else v
                for k, v in w.items()
            }
            for key, w in self._whole.items()
        ]


def text_of_details(details: Sequence[JsonValue]) -> str:
    """What of them can be read."""
    out: list[str] = []
    for detail in details:
        if isinstance(detail, dict):
            out += [v for n in ("text", "summary") if isinstance(v := detail.get(n), str)]
    return "".join(out)


def echoed(message: AssistantMessage, policy: str) -> JsonObject:
    """The members that carry this message's reasoning back, under the names it came in."""
    if policy == "never" or (policy != "always" and not message.tool_calls):
        return {}
    members: JsonObject = {}
    texts: dict[str, list[str]] = {}
    for block in message.content:
        if not isinstance(block, Thinking):
            continue
        members.update(echoes_of(block.extra))
        details = block.extra.get(DETAILS)
        if isinstance(details, Sequence) and not isinstance(details, str):
            members[DETAILS] = details
        elif block.signature in REASONING_FIELDS and block.thinking:
            texts.setdefault(block.signature, []).append(block.thinking)
    if not members:
        members.update({name: "".join(parts) for name, parts in texts.items()})
    return members
