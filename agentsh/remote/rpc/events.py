"""Agent events → the records of a client, in Pi's words and order (docs/rpc.md).

Pi's turn is our step, and its agent run is our turn. A message that is written is announced before
its first piece, its blocks are numbered, and its end holds it whole with the entry where it is
stored. What was shown of an answer that broke off is void once the message starts anew.
One translator sees the events of one session in their order; it does no IO.
Read next: agent/events.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeAlias, assert_never

from agentsh.agent.events import (
    AgentEvent,
    ApprovalNeeded,
    CallPart,
    Compacted,
    Compacting,
    MessageDone,
    Notice,
    Restarted,
    Retry,
    Steered,
    StepEnd,
    StepStart,
    TextPart,
    ThinkingPart,
    ToolEnd,
    ToolProgress,
    ToolStart,
    TurnEnd,
    TurnStart,
)
from agentsh.agent.turn.loop import NEARLY_FULL
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import AssistantMessage, ToolResultMessage, Usage, UserMessage
from agentsh.remote.rpc.compaction import compaction_json
from agentsh.session.format.blockcodec import encode_block, encode_blocks, encode_usage
from agentsh.session.format.entries import Entry, EntryId
from agentsh.session.format.messagecodec import encode_message
from agentsh.views.describe import allow_hint

PiBlockKind: TypeAlias = Literal["text", "thinking", "toolcall"]
_NO_USAGE: Final = encode_usage(Usage())


class PiEvents:
    """The events of one session. `look` gives an entry, `max_retries` how often is retried."""

    def __init__(self, look: Callable[[EntryId], Entry], max_retries: Callable[[], int]) -> None:
        self._look = look
        self._max_retries = max_retries
        self._draft = _Draft()
        self._is_turn_open = False
        self._answer: JsonObject = {}
        self._results: list[JsonValue] = []
        self._messages: list[JsonValue] = []
        self._attempt = 0
        self._compaction: str | None = None

    def of(self, event: AgentEvent) -> list[JsonObject]:
        """What a client is told of it."""
        match event:
            case TextPart() | ThinkingPart() | CallPart() | Restarted() | MessageDone():
                return self._answering(event)
            case TurnStart() | Steered() | StepStart() | StepEnd() | TurnEnd():
                return self._turning(event)
            case ToolStart() | ToolProgress() | ToolEnd():
                return self._working(event)
            case Retry() | Compacting() | Compacted():
                return self._waiting(event)
            case Notice(text, level):
                return [notice_record(text, level)]
            case ApprovalNeeded(call, shown, hint):
                words = f"stopped: not approved: {call.name}: {shown}; {allow_hint(hint)}"
                return [notice_record(words, "warning")]
            case _:
                assert_never(event)

    # ---- turns ---------------------------------------------------------------------------------

    def _turning(
        self, event: TurnStart | Steered | StepStart | StepEnd | TurnEnd
    ) -> list[JsonObject]:
        match event:
            case TurnStart(message, entry):
                self._messages.clear()
                return [{"type": "agent_start"}, *self._opened(), *self._whole(message, entry)]
            case Steered(message, entry):
                return [*self._opened(), *self._whole(message, entry)]
            case StepStart():
                return self._opened()
            case StepEnd():
                return self._closed()
            case TurnEnd():
                end: JsonObject = {
                    "type": "agent_end",
                    "messages": [*self._messages],
                    "willRetry": False,
                }
                hints = [] if event.hint is None else [notice_record(event.hint, "info")]
                stop = "aborted" if event.error is None else "error"
                self._answer = self._answer or _unsaid(stop)
                return [*self._retried(event.error), *self._closed(), *hints, end]

    def _opened(self) -> list[JsonObject]:
        if self._is_turn_open:
            return []
        self._is_turn_open = True
        return [{"type": "turn_start"}]

    def _closed(self) -> list[JsonObject]:
        if not self._is_turn_open:
            return []
        self._is_turn_open = False
        record: JsonObject = {
            "type": "turn_end",
            "message": self._answer,
            "toolResults": [*self._results],
        }
        self._answer, self._draft = {}, _Draft()
        self._results.clear()
        return [record]

    def _whole(
        self, message: UserMessage | ToolResultMessage | AssistantMessage, entry: EntryId
    ) -> list[JsonObject]:
        """A message that is there at once."""
        value = encode_message(message)
        self._messages.append(value)
        end: JsonObject = {"type": "message_end", "message": value, "entryId": entry}
        return [{"type": "message_start", "message": value}, end]

    # ---- an answer -----------------------------------------------------------------------------

    def _answering(
        self, event: TextPart | ThinkingPart | CallPart | Restarted | MessageDone
    ) -> list[JsonObject]:
        match event:
            case TextPart(text):
                return self._draft.grow("text", text)
            case ThinkingPart(text):
                return self._draft.grow("thinking", text)
            case CallPart(index, name, arguments):
                return self._draft.grow("toolcall", arguments, call=(index, name))
            case Restarted():
                self._draft = _Draft()
                return []
            case MessageDone(message, entry):
                return self._answered(message, entry)

    def _answered(self, message: AssistantMessage, entry: EntryId) -> list[JsonObject]:
        start, end = self._whole(message, entry)
        self._answer = encode_message(message)
        draft, self._draft = self._draft, _Draft()
        begun = draft.closed(message) if draft.is_begun else [start]
        retried = [] if message.stop_reason == "error" else self._retried(None)
        return [*begun, end, *retried]

    # ---- tools ---------------------------------------------------------------------------------

    def _working(self, event: ToolStart | ToolProgress | ToolEnd) -> list[JsonObject]:
        call = event.call
        named: JsonObject = {"toolCallId": call.id, "toolName": call.name}
        match event:
            case ToolStart():
                return [{"type": "tool_execution_start", **named, "args": call.arguments}]
            case ToolProgress(text=text):
                part: JsonObject = {"content": [{"type": "text", "text": text}], "details": {}}
                args = {"args": call.arguments, "partialResult": part}
                return [{"type": "tool_execution_update", **named, **args}]
            case ToolEnd(result=result, entry=entry):
                content = encode_blocks(result.content)
                record: JsonObject = {
                    "type": "tool_execution_end",
                    **named,
                    "result": {"content": content, "details": result.details},
                    "isError": result.is_error,
                    "entryId": entry,
                }
                if result.duration_ms is not None:
                    record["durationMs"] = result.duration_ms
                self._results.append(encode_message(result))
                return [record, *self._whole(result, entry)]

    # ---- waits ---------------------------------------------------------------------------------

    def _waiting(self, event: Retry | Compacting | Compacted) -> list[JsonObject]:
        match event:
            case Retry(attempt, seconds, error):
                return [self._retry(attempt, seconds, error)]
            case Compacting(why=why):
                self._compaction = compaction_reason(why)
                return [{"type": "compaction_start", "reason": self._compaction}]
            case Compacted():
                return self._compacted(event)

    def _retry(self, attempt: int, seconds: float, error: str) -> JsonObject:
        kind = "summarization_retry_scheduled"
        if self._compaction is None:
            kind, self._attempt = "auto_retry_start", attempt
        return {
            "type": kind,
            "attempt": attempt,
            "maxAttempts": max(attempt, self._max_retries()),
            "delayMs": round(seconds * 1000),
            "errorMessage": error,
        }

    def _retried(self, error: str | None) -> list[JsonObject]:
        """The end of the repeats that there were; `error`: they did not help."""
        attempt, self._attempt = self._attempt, 0
        if not attempt:
            return []
        record: JsonObject = {
            "type": "auto_retry_end",
            "success": error is None,
            "attempt": attempt,
        }
        return [record if error is None else record | {"finalError": error}]

    def failed(self, error: str) -> list[JsonObject]:
        """The end of a compaction that was announced, and failed."""
        return [] if self._compaction is None else self._compacted(Compacted(None, 0, 0, error))

    def _compacted(self, event: Compacted) -> list[JsonObject]:
        reason, self._compaction = self._compaction or "manual", None
        record: JsonObject = {"type": "compaction_end", "reason": reason}
        record |= {"aborted": False, "willRetry": reason == "overflow"}
        if event.entry is None:
            record |= {"willRetry": False, "errorMessage": event.error or "nothing was compacted"}
            return [record]
        result = compaction_json(self._look(event.entry), event)
        return [record | {"result": result}, leaf_record(event.entry, "compaction")]


class _Draft:
    """An answer that is being written: its blocks as they begin, grow and end."""

    def __init__(self) -> None:
        self.is_begun = False
        self._index = -1
        self._kind: PiBlockKind | None = None
        self._call: tuple[int, str] | None = None
        self._text: list[str] = []
        self._calls: dict[int, int] = {}
        """The place of a call among the calls → that of its block."""

    def grow(
        self, kind: PiBlockKind, text: str, *, call: tuple[int, str] | None = None
    ) -> list[JsonObject]:
        records: list[JsonObject] = []
        if not self.is_begun:
            self.is_begun = True
            records.append({"type": "message_start", "message": _PENDING})
        is_known = call is not None and call[0] in self._calls
        if not is_known and (kind != self._kind or call != self._call):
            records += self._ended()
            records.append(self._started(kind, call))
        index = self._calls[call[0]] if call is not None else self._index
        if kind != "toolcall":
            self._text.append(text)
        if text:
            records.append(_update(f"{kind}_delta", index, delta=text))
        return records

    def closed(self, message: AssistantMessage) -> list[JsonObject]:
        """The ends of what is still open: a call is known whole only now."""
        calls = message.tool_calls
        ends = [
            _update("toolcall_end", index, toolCall=encode_block(calls[order]))
            for order, index in self._calls.items()
            if order < len(calls)
        ]
        return [*self._ended(), *ends]

    def _started(self, kind: PiBlockKind, call: tuple[int, str] | None) -> JsonObject:
        self._index += 1
        self._kind, self._call = kind, call
        if call is None:
            return _update(f"{kind}_start", self._index)
        self._calls[call[0]] = self._index
        return _update("toolcall_start", self._index, id="", toolName=call[1])

    def _ended(self) -> list[JsonObject]:
        kind, text = self._kind, "".join(self._text)
        self._kind = None
        self._text.clear()
        if kind is None or kind == "toolcall":
            return []
        return [_update(f"{kind}_end", self._index, content=text)]


_PENDING: Final[JsonObject] = {"role": "assistant", "content": [], "stopReason": "pending"}


def _unsaid(stop: str) -> JsonObject:
    """For a step that ended before there was an answer: nothing of it is stored."""
    return _PENDING | {"stopReason": stop, "usage": _NO_USAGE}


def _update(kind: str, index: int, **members: JsonValue) -> JsonObject:
    event: JsonObject = {"type": kind, "contentIndex": index, **members}
    return {"type": "message_update", "usage": _NO_USAGE, "assistantMessageEvent": event}


def compaction_reason(why: str | None) -> Literal["manual", "threshold", "overflow"]:
    """Pi's word for why a context was compacted."""
    if why is None:
        return "manual"
    return "threshold" if why == NEARLY_FULL else "overflow"


def notice_record(text: str, level: str) -> JsonObject:
    return {"type": "notice", "level": level, "text": text}


def leaf_record(leaf: EntryId | None, reason: str) -> JsonObject:
    """The place where the next entry follows has changed, and by no message."""
    return {"type": "leaf_changed", "leafId": leaf, "reason": reason}
