"""The system prompt and the tools in force on a path: a fold over system messages.

A system message is a patch (docs/session-format.md §6): sections are set, replaced in their place
or removed, tools likewise; a compaction may carry the whole as a checkpoint. The order of both is
the order of first appearance, so that a patch does not move what it does not touch (prompt caches).
Plain text of a system message, which has no name, counts as the section ""; as it names nothing
that it could replace, more of it comes behind what is there, as in Pi. Read next: projection.py.
"""

from __future__ import annotations

from msgspec import Struct

from agentsh.messages import SystemMessage, ToolSchema
from agentsh.session.format.entries import EntryId

UNNAMED = ""


class SystemState(Struct, frozen=True):
    """What is in force. `snapshot` is the entry that changed it last."""

    sections: tuple[tuple[str, str], ...] = ()
    tools: tuple[ToolSchema, ...] = ()
    snapshot: EntryId | None = None


def patched(state: SystemState, patch: SystemMessage, entry: EntryId | None) -> SystemState:
    """The state after one system message."""
    sections = dict(state.sections)
    if patch.content:
        before = sections.pop(UNNAMED, "")
        whole = f"{before}\n\n{patch.content}" if before else patch.content
        sections = {UNNAMED: whole, **sections}  # leads, as it does within a message
    for name, text in patch.sections.items():
        if text is None:
            sections.pop(name, None)
        else:
            sections[name] = text
    tools = {tool.name: tool for tool in state.tools}
    for gone in patch.tools_removed:
        tools.pop(gone, None)
    for tool in patch.tools_added:
        tools[tool.name] = tool
    return SystemState(tuple(sections.items()), tuple(tools.values()), entry)


def checkpoint(state: SystemState, timestamp: int = 0) -> SystemMessage:
    """The whole state as one message, for a compaction entry."""
    sections: dict[str, str | None] = dict(state.sections)
    content = sections.pop(UNNAMED, None)
    return SystemMessage(
        content=content or "",
        sections=sections,
        tools_added=state.tools,
        timestamp=timestamp,
    )
