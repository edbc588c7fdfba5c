"""Members of an answer that must go back with it, whatever they hold. Sans-IO.

`thinking_blocks` are a gateway's own form of signed thoughts: they come in pieces, are joined over
the chunks, and a signature closes one. Other members whose names are about thoughts (signatures,
encrypted reasoning) are kept as they came last. All of them lie in the `extra` of the answer's
first Thinking block, and go back to the model that gave them and to no other (reasoning.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from agentsh.jsontext import JsonObject, JsonValue

BLOCKS: Final = "thinking_blocks"
_ABOUT_THOUGHTS: Final = r"(?:thinking|thought|reasoning)_[a-z_]+|encrypted_(?:content|reasoning)"
_READ: Final = frozenset(
    (
        "reasoning_content",
        "reasoning_text",
        "reasoning_details",
        "thinking_parts",
        "reasoning_tokens",
    )
)


def is_about_thoughts(name: str) -> bool:
    """Whether a member of this name must go back as it is."""
    return "_" in name and name not in _READ and re.fullmatch(_ABOUT_THOUGHTS, name) is not None


class Echoes:
    """What came, joined."""

    def __init__(self) -> None:
        self._blocks: list[JsonObject] = []
        self._others: JsonObject = {}

    def __bool__(self) -> bool:
        return bool(self._blocks or self._others)

    def add(self, name: str, value: JsonValue) -> str:
        """Take a member of one chunk; gives the thoughts in it that can be read."""
        if name != BLOCKS or not isinstance(value, list):
            self._others[name] = value
            return ""
        return "".join([self._block(dict(b)) for b in value if isinstance(b, dict)])

    def members(self) -> JsonObject:
        blocks: JsonObject = {BLOCKS: list(self._blocks)} if self._blocks else {}
        return blocks | self._others

    def _block(self, block: JsonObject) -> str:
        last = self._blocks[-1] if self._blocks else {}
        text = block.get("thinking")
        new = text if isinstance(text, str) else ""
        is_open = last.get("type") == block.get("type") == "thinking" and not last.get("signature")
        if not is_open:
            if block.get("signature") and block == last:
                return ""  # the whole block once more
            self._blocks.append({k: v for k, v in block.items() if v is not None})
            return new
        said = str(last.get("thinking") or "")
        if block.get("signature") and new == said:
            new = ""  # a closing summary of what was streamed
        last["thinking"] = said + new
        last |= {k: v for k, v in block.items() if k != "thinking" and v is not None}
        return new


def echoes_of(extra: Mapping[str, JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    """The members in a block's extra that go back."""
    for name, value in extra.items():
        if name == BLOCKS or is_about_thoughts(name):
            yield name, value
