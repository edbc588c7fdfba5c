"""One entry as the tree shows it: its kind, its first line, whether it was said. Pure.

Texts are made safe here, once, so that whoever draws them need not think of it (X01).
Read next: ui/tree/outline.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypedDict

from msgspec import Struct
from msgspec.structs import replace

from agentsh.context.hiding import Edited, edited_on
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
from agentsh.sanitize import first_line, safe_line
from agentsh.session.format.entries import (
    ASIDE,
    PICKED,
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
from agentsh.session.format.factcodec import decode_fact, name_of
from agentsh.session.format.facts import Folded, TurnEnded
from agentsh.views.describe import (
    blocks_text,
    call_line,
    message_line,
    message_text,
    outcome_words,
)

TEXT_KEPT = 2000
_STOPPED = "(stopped)"
_TURN = name_of(TurnEnded)
_FOLD = name_of(Folded)


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
    calls: int = 0
    """Tools that an answer calls."""
    outcome: str = ""
    """Of a result: what came of its call, in a few words."""
    edited: Edited | None = None
    """The model is not sent it, or is sent something else in its place (context/hiding.py)."""
    is_folded: bool = False
    """In a branch that was put away (agent/hiding.py)."""
    is_aside: bool = False
    """A side question, or its answer."""
    tokens: int = 0
    """What the request that it answers took, sent and received."""
    cost: float = 0.0


def tree_items(
    entries: Iterable[Entry],
    labels: Mapping[EntryId, str],
    path: Sequence[EntryId] = (),
    folder: str = "",
) -> list[TreeItem]:
    """Entries in file order → items; of two with one id the first counts (S25).

    What is hidden on the path is marked: an edit counts on its own path only. So is what lies in a
    branch that was put away. Paths below the folder are said as they are from there.
    """
    items: dict[EntryId, TreeItem] = {}
    on_path: dict[EntryId, Entry | None] = dict.fromkeys(path)
    said: dict[EntryId, EntryId] = {}
    """Of each entry the last one on its path that was said."""
    folds: set[EntryId] = set()
    for entry in entries:
        if entry.id not in items:
            items[entry.id] = item = item_of(entry, labels.get(entry.id), folder)
            above = None if entry.parent is None else said.get(entry.parent)
            if not item.is_log:
                said[entry.id] = entry.id
            elif above is not None:
                said[entry.id] = above
                if is_stop(entry):
                    items[above] = _stopped(items[above])
            if entry.id in on_path:
                on_path[entry.id] = entry
            _note_fold(folds, entry)
    for target, edited in edited_on([e for e in on_path.values() if e is not None]).items():
        items[target] = replace(items[target], edited=edited)
    return with_folds(list(items.values()), folds, path)


def _note_fold(folds: set[EntryId], entry: Entry) -> None:
    """The latest of the file for an entry counts."""
    body = entry.body
    if not isinstance(body, Custom) or body.custom_type != _FOLD:
        return
    if isinstance(fact := decode_fact(body), Folded):
        (folds.add if fact.event == "folded" else folds.discard)(fact.entry)


def with_folds(
    items: Sequence[TreeItem], folds: Collection[EntryId], path: Collection[EntryId]
) -> list[TreeItem]:
    """The same items, with those in folded branches marked. One on the path never is."""
    on_path = frozenset(path)
    inside: set[EntryId] = set()
    items_now: list[TreeItem] = []
    for item in items:
        begins = item.id in folds and item.id not in on_path
        if begins or item.parent in inside:
            inside.add(item.id)
        is_folded = item.id in inside
        same = is_folded == item.is_folded
        items_now.append(item if same else replace(item, is_folded=is_folded))
    return items_now


def put_away(items: Sequence[TreeItem]) -> list[TreeItem]:
    """One line for each folded branch, which says how many entries it stands for."""
    folded = {item.id for item in items if item.is_folded}
    if not folded:
        return list(items)
    begins: dict[EntryId, EntryId] = {}
    counts: dict[EntryId, int] = {}
    for item in items:
        if item.is_folded:
            inside = item.parent is not None and item.parent in begins
            first = begins[item.parent] if inside and item.parent is not None else item.id
            begins[item.id] = first
            counts[first] = counts.get(first, 0) + (not item.is_log)
    shown = (item for item in items if begins.get(item.id, item.id) == item.id)
    return [_stands_for(item, counts[item.id]) if item.is_folded else item for item in shown]


def _stands_for(item: TreeItem, count: int) -> TreeItem:
    entries = "entry" if count == 1 else "entries"
    text = f"folded: {count} {entries}" + ("" if item.is_log else f" · {item.text}")
    return replace(item, text=text, is_log=False, only_calls=False, edited=None)


def is_stop(entry: Entry) -> bool:
    """The end of a turn that the person stopped."""
    body = entry.body
    if not isinstance(body, Custom) or body.custom_type != _TURN:
        return False
    fact = decode_fact(body)
    return isinstance(fact, TurnEnded) and fact.reason == "aborted"


def _stopped(item: TreeItem) -> TreeItem:
    """The last thing said in a turn that was stopped says so."""
    if item.text.endswith(_STOPPED):
        return item
    return replace(item, text=f"{item.text} {_STOPPED}".lstrip())


def item_of(entry: Entry, label: str | None, folder: str = "") -> TreeItem:
    body = entry.body
    safe_label = None if label is None else safe_line(label, 60)
    if isinstance(body, MessageBody):
        message = body.message
        return TreeItem(
            entry.id,
            entry.parent,
            "message",
            role_of(message),
            message_line(message, folder=folder),
            entry.time,
            safe_label,
            _whole(message)[:TEXT_KEPT],
            is_log=isinstance(message, SystemMessage),
            only_calls=isinstance(message, AssistantMessage) and not message.text.strip(),
            calls=len(message.tool_calls) if isinstance(message, AssistantMessage) else 0,
            outcome=outcome_words(message) if isinstance(message, ToolResultMessage) else "",
            is_aside=entry.stamp is not None and entry.stamp.code == ASIDE,
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
        case CustomMessage(kind, content):
            text = blocks_text(content)
            if kind == PICKED:  # its first line says from where it came; the tree shows what, too
                text = text.replace("\n\n", " ", 1)
            return "custom_message", text, False
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
