"""Streamed text → what may be shown and kept of it, sans-IO: whole characters, and no key of ours.

A piece may end in the middle of both: in one half of a surrogate pair, or in a key that the server
repeats (a proxy that tells its request, a model that saw it). What may still become one of them is
held back until the next piece, so that no cutting of the same text gives another result. A half
that stays alone is U+FFFD; a key is `[key]`. Read next: assemble.py, responsestream.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from agentsh.jsontext import JsonValue, clean

MASK: Final = "[key]"


class TextGate:
    """One run of text. `keys` are what must never be stored."""

    def __init__(self, keys: tuple[str, ...] = ()) -> None:
        self._keys = keys
        self._held = ""

    def feed(self, piece: str) -> str:
        """Take a piece; give what is certain by now."""
        text = self._held + piece if self._held else piece
        self._held = ""
        if text.isascii() and not self._keys:
            return text
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._held = text[:-1], text[-1]
        text = mask_text(clean(text), self._keys)
        begun = self._begun(text)
        if begun:
            text, self._held = text[:-begun], text[-begun:] + self._held
        return text

    def end(self) -> str:
        """What was held back and has become nothing."""
        text, self._held = clean(self._held), ""
        return text

    def _begun(self, text: str) -> int:
        """How much of the end may be the beginning of a key."""
        longest = 0
        for key in self._keys:
            start = text.rfind(key[0], max(0, len(text) - len(key) + 1))
            position = max(0, len(text) - len(key) + 1)
            while start >= 0 and (position := text.find(key[0], position)) >= 0:
                if key.startswith(text[position:]):
                    longest = max(longest, len(text) - position)
                    break
                position += 1
        return longest


def mask_text(text: str, keys: tuple[str, ...]) -> str:
    for key in keys:
        if key in text:
            text = text.replace(key, MASK)
    return text


def holds_key(value: JsonValue, keys: tuple[str, ...]) -> bool:
    """Whether a key stands in any text of this value."""
    if not keys:
        return False
    match value:
        case str():
            return any(key in value for key in keys)
        case Mapping():
            return any(holds_key(k, keys) or holds_key(v, keys) for k, v in value.items())
        case Sequence():
            return any(holds_key(inner, keys) for inner in value)
        case _:
            return False


def masked(value: JsonValue, keys: tuple[str, ...]) -> JsonValue:
    """The same value without the keys."""
    if not holds_key(value, keys):
        return value
    match value:
        case str():
            return mask_text(value, keys)
        case Mapping():
            return {mask_text(k, keys): masked(v, keys) for k, v in value.items()}
        case Sequence():
            return [masked(inner, keys) for inner in value]
        case _:
            return value
