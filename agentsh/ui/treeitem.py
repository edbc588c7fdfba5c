"""One entry as the tree shows it: its kind, its first line, whether it was said. Pure.

Texts are made safe here, once, so that whoever draws them need not think of it (X01).
Read next: outline.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypedDict

from msgspec import Struct

from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    CustomRoleMessage,
    Message,
    SystemMessage,
    ToolResultMessage,
    UnknownRoleMessage,
    Usage,
    UserMessage,
)
from agentsh.session.entries import (
    BranchSummary,
    Compaction,
    ContextEdit,
    Custom,
    CustomMessage,
    Damaged,
    Entry,
    EntryId,
    Label,
    MessageBody,
    ModelChange,
    SessionInfo,
    ThinkingLevelChange,
    Unknown,
    UsageRecord,
)
from agentsh.ui.describe import blocks_text, call_line, message_line, message_text
from agentsh.ui.sanitize import first_line, safe_line

TEXT_KEPT = 2000


class TreeItem(Struct, frozen=True):
    """One entry as the tree shows it. `text` is its first line, safe; `whole` is for search."""

    id: EntryId
    parent: EntryId | None
    type: str
    role: str | None
    text: str
    time: str
    label: str | None = None
    whole: str = ""
    is_log: bool = False
    """A fact, a label, a change of settings: nothing that was said."""
    only_calls: bool = False
    tokens: int = 0
    """What the request that it answers took, sent and received."""
    cost: float = 0.0


def tree_items(entries: Iterable[Entry], labels: Mapping[EntryId, str]) -> list[TreeItem]:
    """Entries in file order → items; of two with one id the first counts (S25)."""
    items: dict[EntryId, TreeItem] = {}
    for entry in entries:
        if entry.id not in items:
            items[entry.id] = item_of(entry, labels.get(entry.id))
    return list(items.values())


def item_of(entry: Entry, label: str | None) -> TreeItem:
    body = entry.body
    safe_label = None if label is None else safe_line(label, 60)
    if isinstance(body, MessageBody):
        message = body.message
        return TreeItem(
            entry.id,
            entry.parent,
            "message",
            role_of(message),
            message_line(message),
            entry.time,
            safe_label,
            _whole(message)[:TEXT_KEPT],
            is_log=isinstance(message, SystemMessage),
            only_calls=isinstance(message, AssistantMessage) and not message.text.strip(),
            **_spent(message.usage if isinstance(message, AssistantMessage) else None),
        )
    kind, text, is_log = _other(entry)
    return TreeItem(
        entry.id,
        entry.parent,
        kind,
        None,
        first_line(text),
        entry.time,
        safe_label,
        text[:TEXT_KEPT],
        is_log,
        **_spent(getattr(body, "usage", None)),
    )


def _whole(message: Message) -> str:
    """What is searched and shown of it: its text, and what it calls."""
    text = message_text(message)
    if isinstance(message, AssistantMessage) and message.tool_calls:
        calls = "\n".join(call_line(call, 500) for call in message.tool_calls)
        return f"{text}\n{calls}" if text else calls
    return text


class _Spent(TypedDict, total=False):
    tokens: int
    cost: float


def _spent(usage: Usage | None) -> _Spent:
    if usage is None:
        return {}
    sent = usage.input + usage.cache_read + usage.cache_write
    return {"tokens": usage.total_tokens or sent + usage.output, "cost": usage.cost.total}


def role_of(message: Message) -> str:
    """The persisted name of a message's role."""
    match message:
        case UnknownRoleMessage(role):
            return role
        case SystemMessage():
            return "system"
        case UserMessage():
            return "user"
        case AssistantMessage():
            return "assistant"
        case ToolResultMessage():
            return "toolResult"
        case BashExecutionMessage():
            return "bashExecution"
        case CustomRoleMessage():
            return "custom"


def _other(entry: Entry) -> tuple[str, str, bool]:
    """(type, text, is it log only) of an entry that is no message."""
    match entry.body:
        case Compaction(summary=summary):
            return "compaction", summary, False
        case BranchSummary(summary=summary):
            return "branch_summary", summary, False
        case CustomMessage(content=content):
            return "custom_message", blocks_text(content), False
        case Unknown(kind):
            return kind, f"(unknown entry type {kind})", True
        case Damaged(reason):
            return "damaged", f"(damaged: {reason})", False
        case _:
            return (*_log_line(entry), True)


def _log_line(entry: Entry) -> tuple[str, str]:
    """(type, text) of what no model and no reader is told."""
    match entry.body:
        case ModelChange(provider, model):
            return "model_change", f"{provider}/{model}"
        case ThinkingLevelChange(level):
            return "thinking_level_change", level
        case Label(target, label):
            return "label", f"{label or '(cleared)'} → {target}"
        case SessionInfo(name):
            return "session_info", name or ""
        case UsageRecord(kind, _, model):
            return "usage", f"{kind} {model}"
        case ContextEdit(target):
            return "context_edit", f"→ {target}"
        case Custom(custom_type, data):
            event = data.get("ev") if isinstance(data, dict) else None
            return "custom", custom_type + (f" {event}" if isinstance(event, str) else "")
        case _:
            return "message", ""
