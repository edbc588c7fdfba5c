"""A tool call as an editor shows it: title, kind, places, contents. Pure.

Editors show contents as Markdown, so what a tool said stands in a fence that nothing in it can
close. Read next: updates.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from acp import schema

from agentsh.jsontext import clean
from agentsh.messages import Image, Text, ToolCall, ToolResultMessage
from agentsh.tools.base import Rewritten
from agentsh.views.describe import call_line, call_path, seen_from
from agentsh.views.fences import fenced

MOST_CHANGED: Final = 1_000_000
"""Bytes of the two texts of a difference; what is larger is shown as lines that changed."""
_KINDS: Final[Mapping[str, schema.ToolKind]] = {
    "read": "read",
    "write": "edit",
    "edit": "edit",
    "grep": "search",
    "find": "search",
    "ls": "search",
    "bash": "execute",
}
_OF_ONE_FILE: Final = ("read", "write", "edit")

CallContent: TypeAlias = schema.ContentToolCallContent | schema.FileEditToolCallContent
ShownBlock: TypeAlias = schema.TextContentBlock | schema.ImageContentBlock


def call_title(call: ToolCall, folder: str) -> str:
    """What it does, in one line."""
    return call_line(seen_from(call, folder))


def call_kind(call: ToolCall) -> schema.ToolKind:
    return _KINDS.get(call.name, "other")


def call_places(
    call: ToolCall, folder: str, line: int | None = None
) -> list[schema.ToolCallLocation]:
    """The file that it is about, absolute. `line` counts from 1."""
    path = call_path(call).removeprefix("@")
    if call.name not in _OF_ONE_FILE or not path or "\0" in path:
        return []
    offset = call.arguments.get("offset")
    if line is None and call.name == "read" and isinstance(offset, int) and offset > 0:
        line = offset
    return [schema.ToolCallLocation(path=clean(str(Path(folder, path))), line=line)]


def difference(rewritten: Rewritten) -> schema.FileEditToolCallContent:
    """A file's whole texts."""
    return schema.FileEditToolCallContent(
        type="diff",
        path=clean(str(rewritten.path)),
        old_text=rewritten.before,
        new_text=rewritten.after,
    )


def asked_differences(call: ToolCall, folder: str) -> list[CallContent]:
    """What a call of the past asked for: the passages that it names, not the whole file."""
    places = call_places(call, folder)
    if not places:
        return []
    path = places[0].path
    match call.name, call.arguments:
        case "write", {"content": str(content)}:
            return [_passage(path, None, content)]
        case "edit", {"edits": Sequence() as edits}:
            return [
                _passage(path, old, new)
                for edit in edits
                if isinstance(edit, Mapping)
                and isinstance(old := edit.get("oldText"), str)
                and isinstance(new := edit.get("newText"), str)
            ]
        case _:
            return []


def _passage(path: str, old: str | None, new: str) -> schema.FileEditToolCallContent:
    before = None if old is None else clean(old)
    return schema.FileEditToolCallContent(
        type="diff", path=path, old_text=before, new_text=clean(new)
    )


def result_contents(result: ToolResultMessage) -> list[CallContent]:
    """What a tool said, its pictures too."""
    blocks: list[ShownBlock] = []
    for block in result.content:
        match block:
            case Text(text) if text.strip():
                blocks.append(text_block(fenced(text)))
            case Image():
                blocks.append(image_block(block))
            case _:
                continue
    return [schema.ContentToolCallContent(type="content", content=block) for block in blocks]


def words_content(text: str) -> CallContent:
    return schema.ContentToolCallContent(type="content", content=text_block(text))


def text_block(text: str) -> schema.TextContentBlock:
    return schema.TextContentBlock(type="text", text=clean(text))


def image_block(image: Image) -> schema.ImageContentBlock:
    return schema.ImageContentBlock(type="image", data=image.data, mime_type=image.mime_type)
