"""Which files a stretch of conversation read and changed, for summaries.

Taken from the calls of read, write and edit whose result is no error, and from the lists of earlier
summaries in that stretch. A file both read and changed counts as changed. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from agentsh.context.projection import ContextMessage, SummaryMessage
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import AssistantMessage, ToolCallId, ToolResultMessage

_TAGS: Final = r"(?s)<(read-files|modified-files)>.*?</\1>\s*"


class FileLists(Struct, frozen=True):
    """Sorted, without doubles, disjoint."""

    read: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()

    def details(self) -> JsonObject:
        """As Pi keeps them in the details of a summary."""
        return {"readFiles": list(self.read), "modifiedFiles": list(self.modified)}


def file_lists(messages: Sequence[ContextMessage]) -> FileLists:
    read: set[str] = set()
    modified: set[str] = set()
    failed = _failed(messages)
    for i, message in enumerate(messages):
        if isinstance(message, SummaryMessage) and isinstance(message.details, Mapping):
            read.update(_strings(message.details.get("readFiles")))
            modified.update(_strings(message.details.get("modifiedFiles")))
        if isinstance(message, AssistantMessage):
            for call in message.tool_calls:
                path = call.arguments.get("path")
                if not isinstance(path, str) or not path or (i, call.id) in failed:
                    continue
                if call.name == "read":
                    read.add(path.removeprefix("@"))
                elif call.name in ("write", "edit"):
                    modified.add(path.removeprefix("@"))
    return FileLists(tuple(sorted(read - modified)), tuple(sorted(modified)))


def _failed(messages: Sequence[ContextMessage]) -> set[tuple[int, ToolCallId]]:
    """(index of the calling message, call) of each call that ended in an error."""
    failed: set[tuple[int, ToolCallId]] = set()
    caller = -1
    for i, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            caller = i
        elif isinstance(message, ToolResultMessage) and message.is_error:
            failed.add((caller, message.tool_call_id))
    return failed


def _strings(value: JsonValue) -> Iterable[str]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [item for item in value if isinstance(item, str)]
    return []


def without_tags(summary: str) -> str:
    """A summary without the lists that were put behind it."""
    return re.sub(_TAGS, "", summary).strip()


def with_tags(summary: str, files: FileLists) -> str:
    """The text to store: the model's own, then the lists."""
    parts = [without_tags(summary)]
    for tag, paths in (("read-files", files.read), ("modified-files", files.modified)):
        if paths:
            parts.append("\n".join((f"<{tag}>", *paths, f"</{tag}>")))
    return "\n\n".join(part for part in parts if part)
