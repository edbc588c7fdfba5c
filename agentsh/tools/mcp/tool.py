"""A tool of a server on the seam of all tools: asked about as unknown, bounded as any.

Its arguments go to the server as the model gave them: what they must be only the server knows. The
text of a result has the limits of every result; the whole, and bytes that no model takes, go into
files of the outputs folder. How a call gets to its server is handed in. Read next: results.py,
client.py.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from agentsh.files import create_private, private_folder, write_all
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import Image, Text, ToolSchema, UserBlock
from agentsh.tools.base import Effect, ServedTool, ToolContext, ToolOutcome
from agentsh.tools.files.truncate import bytes_words, head
from agentsh.tools.mcp.results import Bytes, ResultPart, Shown, Words, read_result

_MOST_PICTURES = 20


class ServerAnswer(Struct, frozen=True):
    """What a server answered to a call, as it came; `note`: what is odd about it."""

    result: Mapping[str, JsonValue]
    note: str = ""


class Caller(Protocol):
    """Who brings a call to its server."""

    def call(
        self, server: str, tool: str, arguments: JsonObject, context: ToolContext
    ) -> ServerAnswer:
        """Waits for the answer. Raises ToolError."""


class McpTool(Struct, frozen=True):
    """One tool of one server."""

    schema: ToolSchema
    effect: Effect
    served: ServedTool
    caller: Caller

    def check(self, arguments: JsonObject) -> JsonObject:
        return arguments

    def touches(self, arguments: JsonObject, cwd: Path, home: Path) -> tuple[Path, ...]:
        return ()

    def expect(self, arguments: JsonObject, context: ToolContext) -> Mapping[str, str] | None:
        return None

    def run(self, arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        answer = self.caller.call(self.served.server, self.served.tool, arguments, context)
        text, images = _gathered(read_result(answer.result), context.output_dir)
        shown, details = _bounded(text or "(no content)", context.output_dir)
        notes = [f"[{answer.note}]"] if answer.note else []
        if len(images) > _MOST_PICTURES:
            notes.append(f"[of {len(images)} pictures the first {_MOST_PICTURES} are given]")
        blocks: list[UserBlock] = [Text("\n\n".join((shown, *notes)))]
        blocks += images[:_MOST_PICTURES]
        is_error = answer.result.get("isError") is True
        return ToolOutcome(tuple(blocks), is_error, details)


def _gathered(parts: tuple[ResultPart, ...], folder: Path) -> tuple[str, list[Image]]:
    """All text of a result in its order, and its pictures; bytes are saved and named."""
    texts: list[str] = []
    images: list[Image] = []
    for part in parts:
        match part:
            case Words(text):
                texts.append(text)
            case Shown(words, image):
                texts.append(words)
                images.append(image)
            case Bytes(words, data, suffix):
                texts.append(f"[{words}; {_kept(data, folder, suffix)}]")
    return "\n\n".join(texts), images


def _bounded(text: str, folder: Path) -> tuple[str, JsonValue]:
    """As much as a result holds; the whole is in a file that the text names."""
    cut = head(text)
    if cut.is_whole:
        return text, None
    where = _kept(text.encode("utf-8", "replace"), folder, ".log")
    note = f"Lines 1-{cut.lines} of {cut.total} shown ({bytes_words(cut.total_bytes)} in all)"
    if cut.clipped is not None:
        note += f"; of the last of them the first {cut.clipped} bytes"
    details: JsonObject = {"truncation": {"truncated": True, "totalLines": cut.total}}
    return f"{cut.text.rstrip()}\n\n[{note}. Whole result {where}]", details


def _kept(data: bytes, folder: Path, suffix: str) -> str:
    """Where it was saved, or why it was not, in words."""
    path = folder / f"mcp-{secrets.token_hex(8)}{suffix}"
    try:
        private_folder(folder)
        handle = create_private(path)
        try:
            write_all(handle, data)
        finally:
            os.close(handle)
    except OSError as e:
        with suppress(OSError):  # its folder may be no folder
            path.unlink()
        return f"not saved: {e.strerror or e}"
    return f"saved: {path}"
