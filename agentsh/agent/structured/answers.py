"""An answer that must be a JSON value: how it is asked for, how it is read, what is said of it.

The value is the whole answer or, since models like to say a word first, the only fenced block in
it; where there are several nobody knows which was meant. Nothing is mended or guessed. What checks
a value is handed in (validator.py). Pure. Read next: agent/turn/loop.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from agentsh.jsontext import DEEPEST_FOREIGN, JsonError, JsonObject, JsonValue, dumps_text, loads

MOST_COMPLAINT: Final = 2000
"""Characters; a schema's author may have written more, and a value of the model's may be quoted."""
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*")


class StructuredAnswer(Struct, frozen=True):
    """What was read: a value that fits, or why there is none."""

    value: JsonValue = None
    complaint: str | None = None


class AnswerSchema(Struct, frozen=True):
    """What the last answer of a turn must be."""

    schema: JsonObject
    complain: Callable[[JsonValue], str | None]
    """Why a value does not fit; None: it does."""

    @property
    def asked(self) -> str:
        """What stands behind the prompt."""
        return (
            "\nYour last message must be one JSON value and nothing else, no other words and no"
            f" code fence, that fits this JSON Schema:\n{dumps_text(self.schema)}"
        )

    def asked_again(self, complaint: str) -> str:
        """What is said to an answer that does not fit."""
        return (
            f"That is not the JSON value that was asked for: {complaint}\nSay it again: one JSON"
            " value that fits the JSON Schema, and nothing else. No tools are offered for this."
        )

    def read(self, text: str) -> StructuredAnswer:
        """The value of an answer, or what is wrong with it."""
        try:
            value = loads(_json_in(text), deepest=DEEPEST_FOREIGN)
        except JsonError as e:
            return StructuredAnswer(complaint=f"it is no JSON ({e})"[:MOST_COMPLAINT])
        if value and value == self.schema:
            return StructuredAnswer(complaint="it is the schema itself, and not a value that fits")
        complaint = self.complain(value)
        return StructuredAnswer(value, None if complaint is None else complaint[:MOST_COMPLAINT])


def _json_in(text: str) -> str:
    """The whole text, or what its only fenced block holds. Raises JsonError: it has several."""
    whole = text.strip().removeprefix("\ufeff")
    try:
        loads(whole, deepest=DEEPEST_FOREIGN)
    except JsonError:
        blocks = fenced_blocks(whole)
        if len(blocks) > 1:
            raise JsonError(f"{len(blocks)} fenced blocks") from None
        return blocks[0] if blocks else whole
    return whole


def fenced_blocks(text: str) -> list[str]:
    """The contents of the fenced blocks of a Markdown text; the last one may lack its end."""
    blocks: list[list[str]] = []
    fence = ""
    for line in text.split("\n"):
        match = _FENCE.fullmatch(line.rstrip("\r"))
        if not fence:
            if match:
                fence = match[1]
                blocks.append([])
        elif match and match[1].startswith(fence) and line.strip() == match[1]:
            fence = ""
        else:
            blocks[-1].append(line)
    return ["\n".join(block) for block in blocks]
