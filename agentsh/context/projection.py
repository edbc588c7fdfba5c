"""Branch → Context: what the model is to see of a path, and which settings are in force on it.

The theory, in five sentences. Only kinds on a white list say anything: messages, custom messages,
branch summaries, compactions, context edits, and the settings; every other entry could be taken out
or put in anywhere and the result would be the same (R29). Of all compactions on the path the last
one counts: its summary stands first, then what it kept, then what came after it. An answer that
failed or was stopped is left out whole, with the results of its calls. Settings are folded over the
path, and the last compaction may state them anew, so that a branch that begins at its kept range
(`complete` False) projects to the very same context as the whole path. Nothing is repaired in here:
pairing, ids, images and wording belong to outbound.py, which works on a copy for each request.

Every item keeps the id of its entry. Read next: outbound.py, compaction.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias, assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from agentsh.context.system import SystemState, patched
from agentsh.jsontext import JsonValue
from agentsh.messages import (
    AssistantBlock,
    AssistantMessage,
    BashExecutionMessage,
    CustomRoleMessage,
    Image,
    Message,
    ModelRef,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolCallId,
    ToolResultMessage,
    UnknownRoleMessage,
    Usage,
    UserBlock,
    UserMessage,
    own_details,
)
from agentsh.session.format.blockcodec import decode_usage
from agentsh.session.format.entries import (
    Body,
    Branch,
    BranchSummary,
    Compaction,
    ContextEdit,
    Custom,
    CustomMessage,
    Entry,
    EntryId,
    MessageBody,
    ModelChange,
    ThinkingLevelChange,
    besides,
    last_place,
    places_of,
)
from agentsh.session.format.factcodec import name_of
from agentsh.session.format.facts import StateSet

STATE_TYPE = name_of(StateSet)
HIDDEN_RESULT = "(This result was taken out of the conversation.)"


_SAID = (UserMessage, AssistantMessage, ToolResultMessage)
EditContent: TypeAlias = tuple[UserBlock | AssistantBlock, ...]


class SummaryMessage(Struct, frozen=True):
    """The text of a compaction or a branch summary. `details` None: made by an extension of Pi."""

    kind: Literal["compaction", "branch"]
    summary: str
    details: JsonValue = None


ContextMessage: TypeAlias = (
    UserMessage
    | AssistantMessage
    | ToolResultMessage
    | BashExecutionMessage
    | CustomRoleMessage
    | SummaryMessage
)


class Item(Struct, frozen=True, gc=False):
    """One message of the context. `entry` is None for messages that a compaction holds itself."""

    entry: EntryId | None
    message: ContextMessage


class Context(Struct, frozen=True):
    """`tail` is the index of the first item after the last compaction: usage figures before it are
    measurements of another context (S32)."""

    system: SystemState = field(default_factory=SystemState)
    model: ModelRef | None = None
    thinking: str = "off"
    items: tuple[Item, ...] = ()
    compaction: EntryId | None = None
    tail: int = 0
    state: Mapping[str, JsonValue] = field(default_factory=dict)
    """Latest value of each `agentsh.state` key on the path."""
    outdated: frozenset[EntryId] = frozenset()
    """Answers to a prompt that was edited since: what they report measures another context."""


def project(branch: Branch) -> Context:
    """What the model is to see of this path."""
    entries = branch.entries
    cut = last_place(entries, Compaction)
    settings = _fold(entries, cut)
    if cut is None:
        return replace(settings, items=tuple(_items(entries)), outdated=_outdated(entries))
    entry = entries[cut]
    body = entry.body
    assert isinstance(body, Compaction)
    details = None if body.from_hook else body.details
    head = [Item(entry.id, SummaryMessage("compaction", body.summary, details))]
    kept_range, after = _kept(entries, cut, body), entries[cut + 1 :]
    if not kept_range and body.retained_tail:
        head += _retained(body.retained_tail)
    # one pass over both, so that an edit made after the compaction reaches what it kept
    items = _items([*kept_range, *after])
    later = {e.id for e in after}
    before = sum(item.entry not in later for item in items)
    return replace(
        settings,
        items=(*head, *items),
        compaction=entry.id,
        tail=len(head) + before,
        outdated=_outdated(after),
    )


def project_settings(branch: Branch) -> Context:
    """What is in force at the end of this path, and nothing of what was said on it."""
    entries = branch.entries
    return _fold(entries, last_place(entries, Compaction))


def _kept(entries: Sequence[Entry], cut: int, body: Compaction) -> Sequence[Entry]:
    """What the compaction kept of the path before it; a kept id that is not there keeps nothing."""
    if body.first_kept is None:
        return ()
    for i in range(cut):
        if entries[i].id == body.first_kept:
            return entries[i:cut]
    return ()


def _retained(messages: Iterable[Message]) -> list[Item]:
    """What a newer Pi copies into its compaction instead of naming the first kept entry."""
    visible = (_visible_message(message) for message in messages)
    return [Item(None, m) for m in visible if m is not None and not _is_void(m)]


# ---- settings --------------------------------------------------------------------------------


def _fold(entries: Sequence[Entry], last: int | None) -> Context:
    system, thinking = SystemState(), "off"
    model: ModelRef | None = None
    named = -1
    state: dict[str, JsonValue] = {}
    for i in besides(entries):
        entry = entries[i]
        body = entry.body
        match body:
            case MessageBody(SystemMessage() as message):
                system = patched(system, message, entry.id)
            case ModelChange(provider, model_id):
                model, named = ModelRef(provider, model_id), i
            case ThinkingLevelChange(level):
                thinking = level
            case Custom(custom_type, Mapping() as data) if custom_type == STATE_TYPE:
                key = data.get("key")
                if isinstance(key, str):
                    state[key] = data.get("value")
            case Compaction():
                if body.system is not None:
                    system = patched(SystemState(), body.system, entry.id)
                # only the last one: it alone is in every branch that may be cut at its kept range
                if i == last and (stated := own_details(body.details)) is not None:
                    model, thinking, state = _settings_of(stated)
                    named = i
    model = _answering(entries, named) or model
    return Context(system=system, model=model, thinking=thinking, state=state)


def _answering(entries: Sequence[Entry], after: int) -> ModelRef | None:
    """The model of the last answer behind that index which names one."""
    for i in range(len(entries) - 1, after, -1):
        body = entries[i].body
        if isinstance(body, MessageBody) and isinstance(body.message, AssistantMessage):
            message = body.message
            if message.provider and message.model:
                return ModelRef(message.provider, message.model)
    return None


def _settings_of(
    stated: Mapping[str, JsonValue],
) -> tuple[ModelRef | None, str, dict[str, JsonValue]]:
    provider, model = stated.get("provider"), stated.get("model")
    thinking, state = stated.get("thinking"), stated.get("state")
    return (
        ModelRef(provider, model) if isinstance(provider, str) and isinstance(model, str) else None,
        thinking if isinstance(thinking, str) else "off",
        dict(state) if isinstance(state, Mapping) else {},
    )


# ---- items -----------------------------------------------------------------------------------


def _items(entries: Sequence[Entry]) -> list[Item]:
    items: list[Item] = []
    edits = _edits(entries)
    gone: frozenset[ToolCallId] = frozenset()
    for entry in entries:
        body = entry.body
        if isinstance(body, MessageBody) and isinstance(body.message, _SAID):
            original: ContextMessage | None = body.message
            if not edits and not gone and not _is_void(body.message):  # nearly all there is
                items.append(Item(entry.id, body.message))
                continue
        else:
            original = _visible(body)
        if original is None:
            continue
        if gone and isinstance(original, ToolResultMessage) and original.tool_call_id in gone:
            continue
        message = _edited(original, edits[entry.id]) if entry.id in edits else original
        if isinstance(original, AssistantMessage):
            gone = _without_call(original, message)
        if message is not None and not _is_void(message):
            items.append(Item(entry.id, message))
    return items


def _without_call(
    original: AssistantMessage, shown: ContextMessage | None
) -> frozenset[ToolCallId]:
    """The calls of an answer that nobody sees: their results have nothing to answer."""
    if shown is original and not _is_void(original):
        return frozenset()
    calls = frozenset(call.id for call in original.tool_calls)
    if isinstance(shown, AssistantMessage) and not _is_void(shown):
        return calls - {call.id for call in shown.tool_calls}
    return calls


def _visible(body: Body) -> ContextMessage | None:
    """The white list: what of an entry the model may see."""
    match body:
        case MessageBody(message):
            return _visible_message(message)
        case CustomMessage(custom_type, content, display, details):
            return CustomRoleMessage(custom_type, content, display, details)
        case BranchSummary(summary=summary) if summary:
            return SummaryMessage("branch", summary, None if body.from_hook else body.details)
        case _:
            return None


def _visible_message(message: Message) -> ContextMessage | None:
    match message:
        case SystemMessage() | UnknownRoleMessage():
            return None
        case BashExecutionMessage(excluded=True):
            return None
        case (
            UserMessage()
            | AssistantMessage()
            | ToolResultMessage()
            | BashExecutionMessage()
            | CustomRoleMessage()
        ):
            return message
        case _:
            assert_never(message)


def _is_void(message: ContextMessage) -> bool:
    """An answer that failed or was stopped: its prompt stays, the answer does not."""
    return isinstance(message, AssistantMessage) and message.stop_reason in ("error", "aborted")


def _edits(entries: Sequence[Entry]) -> dict[EntryId, EditContent | None]:
    """Target → replacement, the latest on the path; an edit reaches only what stands before it."""
    edits: dict[EntryId, EditContent | None] = {}
    if not places_of(entries, ContextEdit):
        return edits
    seen: set[EntryId] = set()
    for entry in entries:
        if isinstance(entry.body, ContextEdit) and entry.body.target in seen:
            edits[entry.body.target] = entry.body.content
        seen.add(entry.id)
    return edits


def _outdated(entries: Sequence[Entry]) -> frozenset[EntryId]:
    """The answers between a message and an edit of it; a message that is not here is before all."""
    if not places_of(entries, ContextEdit):
        return frozenset()
    places = {entry.id: index for index, entry in enumerate(entries)}
    outdated: set[EntryId] = set()
    first = len(entries)
    for index in range(len(entries) - 1, -1, -1):
        body = entries[index].body
        if isinstance(body, ContextEdit):
            first = min(first, places.get(body.target, -1))
        elif (
            first < index
            and isinstance(body, MessageBody)
            and isinstance(body.message, AssistantMessage)
        ):
            outdated.add(entries[index].id)
    return frozenset(outdated)


def _edited(message: ContextMessage, content: EditContent | None) -> ContextMessage | None:
    said: tuple[UserBlock, ...] = tuple(b for b in content or () if isinstance(b, Text | Image))
    match message:
        case ToolResultMessage():
            # its call still needs an answer, so a hidden result leaves a note in its place
            return replace(message, content=(Text(HIDDEN_RESULT),) if content is None else said)
        case _ if content is None:
            return None
        case UserMessage() | CustomRoleMessage():
            return replace(message, content=said)
        case AssistantMessage():
            blocks = tuple(b for b in content if isinstance(b, Text | Thinking | ToolCall))
            return replace(message, content=blocks)
        case BashExecutionMessage() | SummaryMessage():
            return message  # they can be hidden, not replaced, as Pi has it
        case _:
            assert_never(message)


def turn_of(body: Compaction) -> int | None:
    """The number of the newest turn before a compaction of ours, where it says it."""
    number = (own_details(body.details) or {}).get("turn")
    return number if type(number) is int and number >= 0 else None


def spent_before(body: Compaction) -> Usage | None:
    """What the path before a compaction of ours took, where it says it."""
    said = (own_details(body.details) or {}).get("spent")
    return decode_usage(said) if isinstance(said, dict) else None
