"""Agent events → what an editor is told of a turn. One translator sees a session's turns in order.

A call is announced before anything else is said of it, under an id that no other call of the
session has, whatever the model called it; each has an end, also where the turn broke off before it.
What is no word of the model's, but should be known, is told as a thought: the answer stays the
model's own. It does no IO. Read next: agent/events.py, calls.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias, assert_never

from acp import schema

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
from agentsh.messages import ToolCall, ToolResultMessage
from agentsh.remote.acp.shown.calls import (
    CallContent,
    ShownBlock,
    call_kind,
    call_places,
    call_title,
    difference,
    result_contents,
    text_block,
)
from agentsh.tools.base import Rewritten
from agentsh.views.describe import blocks_text

Update: TypeAlias = (
    schema.AgentMessageChunk
    | schema.AgentThoughtChunk
    | schema.UserMessageChunk
    | schema.ToolCallStart
    | schema.ToolCallProgress
    | schema.UsageUpdate
    | schema.SessionInfoUpdate
    | schema.ConfigOptionUpdate
    | schema.CurrentModeUpdate
    | schema.AvailableCommandsUpdate
)


class CallIds:
    """Ids of calls that are the editor's: each is another one."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._open: dict[str, str] = {}
        """What the model calls a call → what the editor does, until it has an end."""

    def begin(self, call: ToolCall) -> str:
        name, number = str(call.id), 1
        while name in self._taken or not name:
            number += 1
            name = f"{call.id or 'call'}~{number}"
        self._taken.add(name)
        self._open[call.id] = name
        return name

    def of(self, call: ToolCall) -> str | None:
        return self._open.get(call.id)

    def end(self, call_id: str) -> str | None:
        return self._open.pop(call_id, None)

    def end_all(self) -> list[str]:
        """Those that nothing more comes of."""
        names = [*self._open.values()]
        self._open.clear()
        return names


class TurnUpdates:
    """Of one session. `folder`: where it works; `look`: what a call will make of its file."""

    def __init__(
        self,
        folder: str,
        look: Callable[[ToolCall], Rewritten | None],
        usage: Callable[[StepEnd], schema.UsageUpdate | None],
    ) -> None:
        self.ids = CallIds()
        self._folder = folder
        self._look = look
        self._usage = usage
        self._changes: dict[str, CallContent] = {}
        self._is_shown = False
        """Whether something of the answer that is coming was told."""
        self._is_first = True

    def begin(self) -> None:
        """A prompt is about to be said; the editor shows that one itself."""
        self._is_first = True

    def of(self, event: AgentEvent) -> Iterator[Update]:
        match event:
            case TextPart() | ThinkingPart() | Restarted() | MessageDone():
                yield from self._answering(event)
            case ToolStart() | ToolEnd():
                yield from self._working(event)
            case StepEnd():
                usage = self._usage(event)
                if usage is not None:
                    yield usage
            case TurnStart(message) | Steered(message):
                if not self._is_first or isinstance(event, Steered):
                    yield said_by_person(blocks_text(message.content))
                self._is_first = False
            case Retry() | Compacting() | Compacted() | Notice():
                yield from _aside(event)
            case TurnEnd():
                yield from self.broken_off()
            case CallPart() | ToolProgress() | StepStart() | ApprovalNeeded():
                return
            case _:
                assert_never(event)

    def _answering(
        self, event: TextPart | ThinkingPart | Restarted | MessageDone
    ) -> Iterator[Update]:
        was_shown, self._is_shown = self._is_shown, not isinstance(event, MessageDone)
        match event:
            case TextPart(text):
                yield said(text)
            case ThinkingPart(text):
                yield thought(text)
            case Restarted():
                if was_shown:
                    yield thought("\n\n(The answer broke off and begins anew.)\n\n")
            case MessageDone(message):
                if message.stop_reason not in ("error", "aborted"):
                    for call in message.tool_calls:
                        yield from self.announced(call)

    # ---- calls ---------------------------------------------------------------------------------

    def announced(self, call: ToolCall) -> Iterator[Update]:
        """That there is such a call, where that was not told yet."""
        if self.ids.of(call) is None:
            yield call_start(self.ids.begin(call), call, self._folder)

    def _working(self, event: ToolStart | ToolEnd) -> Iterator[Update]:
        call = event.call
        yield from self.announced(call)
        match event:
            case ToolStart():
                name = self.ids.of(call)
                assert name is not None
                rewritten = self._look(call)
                if rewritten is not None:
                    self._changes[name] = difference(rewritten)
                yield progress(name, "in_progress", [*self._change(name)] or None)
            case ToolEnd(result=result):
                name = self.ids.end(call.id)
                assert name is not None
                change = [] if result.is_error else [*self._change(name)]
                self._changes.pop(name, None)
                yield call_end(name, call, result, self._folder, change)

    def _change(self, name: str) -> Iterator[CallContent]:
        if name in self._changes:
            yield self._changes[name]

    def broken_off(self) -> Iterator[Update]:
        """The ends of calls that have none, as nothing more comes."""
        for name in self.ids.end_all():
            yield progress(name, "failed")


def call_start(name: str, call: ToolCall, folder: str) -> schema.ToolCallStart:
    return schema.ToolCallStart(
        session_update="tool_call",
        tool_call_id=name,
        title=call_title(call, folder),
        kind=call_kind(call),
        status="pending",
        locations=call_places(call, folder),
        raw_input=call.arguments,
    )


def progress(
    name: str, status: schema.ToolCallStatus, content: list[CallContent] | None = None
) -> schema.ToolCallProgress:
    """`content` None: what stands there stays."""
    return schema.ToolCallProgress(
        session_update="tool_call_update",
        tool_call_id=name,
        status=status,
        content=None if content is None else [*content],
    )


def call_end(
    name: str, call: ToolCall, result: ToolResultMessage, folder: str, change: list[CallContent]
) -> schema.ToolCallProgress:
    """`change`: the difference that stands for its words."""
    details = result.details if isinstance(result.details, dict) else {}
    line = details.get("firstChangedLine")
    places = call_places(call, folder, line) if isinstance(line, int) and line > 0 else None
    return schema.ToolCallProgress(
        session_update="tool_call_update",
        tool_call_id=name,
        status="failed" if result.is_error else "completed",
        content=[*change] or [*result_contents(result)],
        locations=places,
    )


def said(text: str) -> schema.AgentMessageChunk:
    return schema.AgentMessageChunk(session_update="agent_message_chunk", content=text_block(text))


def thought(text: str) -> schema.AgentThoughtChunk:
    return schema.AgentThoughtChunk(session_update="agent_thought_chunk", content=text_block(text))


def said_by_person(text: str) -> schema.UserMessageChunk:
    return shown_by_person(text_block(text))


def shown_by_person(block: ShownBlock) -> schema.UserMessageChunk:
    return schema.UserMessageChunk(session_update="user_message_chunk", content=block)


def _aside(event: Retry | Compacting | Compacted | Notice) -> Iterator[Update]:
    """What happens besides; what only a log needs is nothing here."""
    match event:
        case Retry(_, seconds, error):
            yield thought(f"\n\n({error}; trying again in {seconds:.0f} s)\n\n")
        case Compacting():
            yield thought("\n\n(The context is being compacted.)\n\n")
        case Compacted(error=str(error)):
            yield thought(f"\n\n(Nothing was compacted: {error})\n\n")
        case Notice(text, "warning" | "error"):
            yield thought(f"\n\n({text})\n\n")
        case _:
            return
