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

from msgspec import UNSET

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
from agentsh.jsontext import JsonObject
from agentsh.messages import AssistantMessage, ToolResultMessage, Usage, UserMessage
from agentsh.remote.rpc.compaction import compaction_result
from agentsh.remote.values.rpcrecords import (
    AgentEndRecord,
    AgentStartRecord,
    AnswerPart,
    CallBegun,
    CallEndRecord,
    CallGrown,
    CallStartRecord,
    CallUpdateRecord,
    CallWhole,
    CompactionEndRecord,
    CompactionStartRecord,
    CompactionWhy,
    LeafRecord,
    MessageEndRecord,
    MessageStartRecord,
    MessageUpdateRecord,
    NoticeRecord,
    RetryEndRecord,
    RetryStartRecord,
    RpcRecord,
    SummaryRetryRecord,
    TextBegun,
    TextGrown,
    TextWhole,
    ThinkingBegun,
    ThinkingGrown,
    ThinkingWhole,
    ToolContent,
    TurnEndRecord,
    TurnStartRecord,
)
from agentsh.session.format.blockcodec import encode_block, encode_usage
from agentsh.session.format.entries import Entry, EntryId
from agentsh.session.format.messagecodec import encode_message
from agentsh.views.describe import allow_hint

PiBlockKind: TypeAlias = Literal["text", "thinking"]
_NO_USAGE: Final = encode_usage(Usage())


class PiEvents:
    """The events of one session. `look` gives an entry, `max_retries` how often is retried."""

    def __init__(self, look: Callable[[EntryId], Entry], max_retries: Callable[[], int]) -> None:
        self._look = look
        self._max_retries = max_retries
        self._draft = _Draft()
        self._is_turn_open = False
        self._answer: JsonObject = {}
        self._results: list[JsonObject] = []
        self._messages: list[JsonObject] = []
        self._attempt = 0
        self._compaction: CompactionWhy | None = None

    def of(self, event: AgentEvent) -> list[RpcRecord]:
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
                return [NoticeRecord(level, text)]
            case ApprovalNeeded(call, shown, hint):
                words = f"stopped: not approved: {call.name}: {shown}; {allow_hint(hint)}"
                return [NoticeRecord("warning", words)]
            case _:
                assert_never(event)

    # ---- turns ---------------------------------------------------------------------------------

    def _turning(
        self, event: TurnStart | Steered | StepStart | StepEnd | TurnEnd
    ) -> list[RpcRecord]:
        match event:
            case TurnStart(message, entry):
                self._messages.clear()
                return [AgentStartRecord(), *self._opened(), *self._whole(message, entry)]
            case Steered(message, entry):
                return [*self._opened(), *self._whole(message, entry)]
            case StepStart():
                return self._opened()
            case StepEnd():
                return self._closed()
            case TurnEnd():
                end = AgentEndRecord((*self._messages,), will_retry=False)
                hints = [] if event.hint is None else [NoticeRecord("info", event.hint)]
                stop = "aborted" if event.error is None else "error"
                self._answer = self._answer or _unsaid(stop)
                return [*self._retried(event.error), *self._closed(), *hints, end]

    def _opened(self) -> list[RpcRecord]:
        if self._is_turn_open:
            return []
        self._is_turn_open = True
        return [TurnStartRecord()]

    def _closed(self) -> list[RpcRecord]:
        if not self._is_turn_open:
            return []
        self._is_turn_open = False
        record = TurnEndRecord(self._answer, (*self._results,))
        self._answer, self._draft = {}, _Draft()
        self._results.clear()
        return [record]

    def _whole(
        self, message: UserMessage | ToolResultMessage | AssistantMessage, entry: EntryId
    ) -> tuple[MessageStartRecord, MessageEndRecord]:
        """A message that is there at once."""
        value = encode_message(message)
        self._messages.append(value)
        return MessageStartRecord(value), MessageEndRecord(value, entry)

    # ---- an answer -----------------------------------------------------------------------------

    def _answering(
        self, event: TextPart | ThinkingPart | CallPart | Restarted | MessageDone
    ) -> list[RpcRecord]:
        match event:
            case TextPart(text):
                return self._draft.grow("text", text)
            case ThinkingPart(text):
                return self._draft.grow("thinking", text)
            case CallPart(index, name, arguments):
                return self._draft.grow_call(index, name, arguments)
            case Restarted():
                self._draft = _Draft()
                return []
            case MessageDone(message, entry):
                return self._answered(message, entry)

    def _answered(self, message: AssistantMessage, entry: EntryId) -> list[RpcRecord]:
        start, end = self._whole(message, entry)
        self._answer = encode_message(message)
        draft, self._draft = self._draft, _Draft()
        begun = draft.closed(message) if draft.is_begun else [start]
        retried = [] if message.stop_reason == "error" else self._retried(None)
        return [*begun, end, *retried]

    # ---- tools ---------------------------------------------------------------------------------

    def _working(self, event: ToolStart | ToolProgress | ToolEnd) -> list[RpcRecord]:
        call = event.call
        match event:
            case ToolStart():
                return [CallStartRecord(call.id, call.name, call.arguments)]
            case ToolProgress(text=text):
                part = ToolContent(({"type": "text", "text": text},), {})
                return [CallUpdateRecord(call.id, call.name, call.arguments, part)]
            case ToolEnd(result=result, entry=entry):
                record = CallEndRecord(
                    call.id,
                    call.name,
                    tool_content(result),
                    result.is_error,
                    entry,
                    UNSET if result.duration_ms is None else result.duration_ms,
                )
                self._results.append(encode_message(result))
                return [record, *self._whole(result, entry)]

    # ---- waits ---------------------------------------------------------------------------------

    def _waiting(self, event: Retry | Compacting | Compacted) -> list[RpcRecord]:
        match event:
            case Retry(attempt, seconds, error):
                return [self._retry(attempt, seconds, error)]
            case Compacting(why=why):
                self._compaction = compaction_reason(why)
                return [CompactionStartRecord(self._compaction)]
            case Compacted():
                return self._compacted(event)

    def _retry(
        self, attempt: int, seconds: float, error: str
    ) -> RetryStartRecord | SummaryRetryRecord:
        most, wait = max(attempt, self._max_retries()), round(seconds * 1000)
        if self._compaction is not None:
            return SummaryRetryRecord(attempt, most, wait, error)
        self._attempt = attempt
        return RetryStartRecord(attempt, most, wait, error)

    def _retried(self, error: str | None) -> list[RpcRecord]:
        """The end of the repeats that there were; `error`: they did not help."""
        attempt, self._attempt = self._attempt, 0
        if not attempt:
            return []
        return [RetryEndRecord(error is None, attempt, UNSET if error is None else error)]

    def failed(self, error: str) -> list[RpcRecord]:
        """The end of a compaction that was announced, and failed."""
        return [] if self._compaction is None else self._compacted(Compacted(None, 0, 0, error))

    def _compacted(self, event: Compacted) -> list[RpcRecord]:
        reason, self._compaction = self._compaction or "manual", None
        if event.entry is None:
            words = event.error or "nothing was compacted"
            failed = CompactionEndRecord(
                reason, aborted=False, will_retry=False, error_message=words
            )
            return [failed]
        result = compaction_result(self._look(event.entry), event)
        again = reason == "overflow"
        done = CompactionEndRecord(reason, aborted=False, will_retry=again, result=result)
        return [done, LeafRecord(event.entry, "compaction")]


class _Draft:
    """An answer that is being written: its blocks as they begin, grow and end."""

    def __init__(self) -> None:
        self.is_begun = False
        self._index = -1
        self._kind: PiBlockKind | None = None
        self._text: list[str] = []
        self._calls: dict[int, int] = {}
        """The place of a call among the calls → that of its block."""

    def grow(self, kind: PiBlockKind, text: str) -> list[RpcRecord]:
        """A block of text, or of reasoning."""
        records = self._begun()
        if kind != self._kind:
            records += self._ended()
            self._index += 1
            self._kind = kind
            begin = TextBegun if kind == "text" else ThinkingBegun
            records.append(_update(begin(self._index)))
        self._text.append(text)
        if text:
            delta = TextGrown if kind == "text" else ThinkingGrown
            records.append(_update(delta(self._index, text)))
        return records

    def grow_call(self, order: int, name: str, text: str) -> list[RpcRecord]:
        """The call of that place among the calls; several may grow in turn."""
        records = self._begun()
        if order not in self._calls:
            records += self._ended()
            self._index += 1
            self._calls[order] = self._index
            records.append(_update(CallBegun(self._index, "", name)))
        if text:
            records.append(_update(CallGrown(self._calls[order], text)))
        return records

    def closed(self, message: AssistantMessage) -> list[RpcRecord]:
        """The ends of what is still open: a call is known whole only now."""
        calls = message.tool_calls
        ends = [
            _update(CallWhole(index, encode_block(calls[order])))
            for order, index in self._calls.items()
            if order < len(calls)
        ]
        return [*self._ended(), *ends]

    def _begun(self) -> list[RpcRecord]:
        if self.is_begun:
            return []
        self.is_begun = True
        return [MessageStartRecord(_PENDING)]

    def _ended(self) -> list[RpcRecord]:
        kind, text = self._kind, "".join(self._text)
        self._kind = None
        self._text.clear()
        if kind is None:
            return []
        end = TextWhole if kind == "text" else ThinkingWhole
        return [_update(end(self._index, text))]


def tool_content(result: ToolResultMessage) -> ToolContent:
    return ToolContent(tuple(map(encode_block, result.content)), result.details)


_PENDING: Final[JsonObject] = {"role": "assistant", "content": [], "stopReason": "pending"}


def _unsaid(stop: str) -> JsonObject:
    """For a step that ended before there was an answer: nothing of it is stored."""
    return _PENDING | {"stopReason": stop, "usage": _NO_USAGE}


def _update(part: AnswerPart) -> MessageUpdateRecord:
    return MessageUpdateRecord(_NO_USAGE, part)


def compaction_reason(why: str | None) -> CompactionWhy:
    """Pi's word for why a context was compacted."""
    if why is None:
        return "manual"
    return "threshold" if why == NEARLY_FULL else "overflow"
