"""A context with what was appended since, without a look at what was there before.

Equal to the projection of the longer path, or None where only a whole projection can tell (an edit,
a compaction, an answer that failed, a state). Pure. Read next: projection.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from agentsh.context.projection import STATE_TYPE, Context, Item
from agentsh.context.system import patched
from agentsh.messages import (
    AssistantMessage,
    ModelRef,
    SystemMessage,
    ToolResultMessage,
    UserMessage,
)
from agentsh.session.format.entries import (
    Custom,
    Entry,
    Label,
    MessageBody,
    ModelChange,
    SessionInfo,
    ThinkingLevelChange,
    UsageRecord,
)


def extended(context: Context, entries: Sequence[Entry]) -> Context | None:
    """The context of the path that goes on with these entries."""
    items: list[Item] = []
    settings = context
    answered = False
    for entry in entries:
        match entry.body:
            case Label() | SessionInfo() | UsageRecord():
                pass
            case Custom(custom_type) if custom_type != STATE_TYPE:
                pass
            case MessageBody(UserMessage() as said):
                items.append(Item(entry.id, said))
            case MessageBody(AssistantMessage() as answer):
                if answer.stop_reason in ("error", "aborted"):
                    return None
                answered = True
                if answer.provider and answer.model:
                    settings = replace(settings, model=ModelRef(answer.provider, answer.model))
                items.append(Item(entry.id, answer))
            case MessageBody(ToolResultMessage() as result) if answered:
                # without its answer at hand, it might belong to one that was left out
                items.append(Item(entry.id, result))
            case ModelChange(provider, model_id):
                settings = replace(settings, model=ModelRef(provider, model_id))
            case ThinkingLevelChange(level):
                settings = replace(settings, thinking=level)
            case MessageBody(SystemMessage() as patch):
                settings = replace(settings, system=patched(settings.system, patch, entry.id))
            case _:
                return None
    return replace(settings, items=(*context.items, *items)) if items else settings
