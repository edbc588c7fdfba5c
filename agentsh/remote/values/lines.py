"""What a program is told of a turn: the lines of `--output events`, the value of `--output json`.

Names and members are public: members are added, never changed, and a line that must change is a new
one. `agentsh schema` prints what these classes say; their docstrings are its words.
`entry` is the entry in which the thing is stored. Pure. Read next: agent/events.py.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, assert_never

from msgspec import UNSET, Struct, UnsetType

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
from agentsh.messages import StopReason, Usage
from agentsh.session.format.facts import TurnEndCause, TurnEndReason
from agentsh.views.describe import blocks_text

TurnStatus: TypeAlias = TurnEndReason | TurnEndCause


class UsageMembers(Struct, frozen=True):
    """Tokens that the server reported."""

    input: int
    output: int
    cache_read: int
    cache_write: int
    reasoning: int
    total_tokens: int


class SessionLine(Struct, frozen=True, tag_field="type", tag="session"):
    """The first line: which session this is."""

    id: str
    path: str | None
    cwd: str
    model: str
    leaf: str | None
    context_files: tuple[str, ...]


class TurnStartLine(Struct, frozen=True, tag_field="type", tag="turn_start"):
    """A prompt was accepted and is durable."""

    entry: str
    prompt: str


class SteerLine(Struct, frozen=True, tag_field="type", tag="steer"):
    """A message was taken in mid-turn: one that was typed, or what is wrong with an answer."""

    entry: str
    prompt: str


class StepStartLine(Struct, frozen=True, tag_field="type", tag="step_start"):
    """A request is about to be sent; `number` counts from 1 within the turn."""

    number: int
    model: str
    entry: str | None


class TextLine(Struct, frozen=True, tag_field="type", tag="text"):
    """Some of the answer's text, as it comes."""

    text: str


class ThinkingLine(Struct, frozen=True, tag_field="type", tag="thinking"):
    """Some of the answer's reasoning, as it comes."""

    text: str


class RestartLine(Struct, frozen=True, tag_field="type", tag="restart"):
    """What came of this step's answer is void: the attempt failed and is made anew."""


class MessageLine(Struct, frozen=True, tag_field="type", tag="message"):
    """The whole answer of a step is stored."""

    entry: str
    stop_reason: StopReason
    error: str | None


class ToolCallLine(Struct, frozen=True, tag_field="type", tag="tool_call"):
    """A tool begins to run."""

    id: str
    name: str
    arguments: dict[str, Any]
    entry: str | None


class ToolResultLine(Struct, frozen=True, tag_field="type", tag="tool_result"):
    """What the model is told of a call; each has one, also where it was not run."""

    id: str
    name: str
    is_error: bool
    content: str
    entry: str
    refused: bool
    """It was not run: a policy or a person said no."""


class ApprovalLine(Struct, frozen=True, tag_field="type", tag="approval"):
    """A call needs a person, and there is none: the turn stops. `allow`: a rule that covers it."""

    id: str
    name: str
    shown: str
    allow: str | None


class RetryLine(Struct, frozen=True, tag_field="type", tag="retry"):
    """A request failed and is sent again in so many seconds."""

    attempt: int
    seconds: float
    error: str


class CompactionStartLine(Struct, frozen=True, tag_field="type", tag="compaction_start"):
    """A summary of what is old is about to be asked for."""

    tokens: int
    why: str | None


class CompactionLine(Struct, frozen=True, tag_field="type", tag="compaction"):
    """A compaction was made, or failed: `error`."""

    entry: str | None
    tokens_before: int
    tokens_after: int
    error: str | None


class NoticeLine(Struct, frozen=True, tag_field="type", tag="notice"):
    """Something that the user should know now."""

    level: Literal["info", "warning", "error"]
    text: str


class StepEndLine(Struct, frozen=True, tag_field="type", tag="step_end"):
    """A step is over; `context_tokens` of `context_window` are in use (null: nobody knows it)."""

    number: int
    usage: UsageMembers
    context_tokens: int
    context_window: int | None


class TurnEndLine(Struct, frozen=True, tag_field="type", tag="turn_end"):
    """The turn is at rest and durable."""

    reason: TurnStatus
    entry: str | None
    leaf: str | None
    usage: UsageMembers
    error: str | None


class DoneLine(Struct, frozen=True, tag_field="type", tag="done"):
    """The last line: how it ended. `exit` is the process's code."""

    status: TurnStatus
    leaf: str | None
    usage: UsageMembers
    cost: float
    exit: int
    error: str | UnsetType = UNSET
    data: Any | UnsetType = UNSET
    """The answer as the value that it had to be (`--output-schema`)."""


class RefusedCall(Struct, frozen=True):
    """A call that was not run, since a policy or a person said no."""

    id: str
    name: str
    arguments: dict[str, Any]


class RunResult(Struct, frozen=True):
    """The value of `run --output json`. `text` is the last answer, `steps` counts requests.

    A model that was refused a call goes on, and may say that it is done: see `refused`.
    """

    session: str
    path: str | None
    cwd: str
    model: str
    context_files: tuple[str, ...]
    text: str
    steps: int
    status: TurnStatus
    leaf: str | None
    usage: UsageMembers
    cost: float
    exit: int
    refused: tuple[RefusedCall, ...]
    error: str | UnsetType = UNSET
    data: Any | UnsetType = UNSET


_MessageLine: TypeAlias = (
    TurnStartLine | SteerLine | StepStartLine | MessageLine | RestartLine | StepEndLine
)
_ToolLine: TypeAlias = ToolCallLine | ToolResultLine | ApprovalLine
_StatusLine: TypeAlias = RetryLine | CompactionStartLine | CompactionLine | NoticeLine | TurnEndLine
EventLine: TypeAlias = (
    SessionLine | TextLine | ThinkingLine | _MessageLine | _ToolLine | _StatusLine | DoneLine
)


def done_line(end: TurnEnd, code: int) -> DoneLine:
    """`code`: of the process."""
    return DoneLine(
        end.status,
        end.leaf,
        usage_members(end.usage),
        end.usage.cost.total,
        code,
        UNSET if end.error is None else end.error,
        end.data,
    )


def usage_members(usage: Usage) -> UsageMembers:
    return UsageMembers(
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write,
        usage.reasoning,
        usage.total_tokens,
    )


def event_line(event: AgentEvent) -> EventLine | None:
    """The line of one event; None for what is for a screen only."""
    match event:
        case TextPart(text):
            return TextLine(text)
        case ThinkingPart(text):
            return ThinkingLine(text)
        case CallPart() | ToolProgress():
            return None
        case TurnStart() | Steered() | MessageDone() | Restarted() | StepStart() | StepEnd():
            return _message_line(event)
        case ToolStart() | ToolEnd() | ApprovalNeeded():
            return _tool_line(event)
        case Retry() | Compacting() | Compacted() | Notice() | TurnEnd():
            return _status_line(event)
        case _:
            assert_never(event)


def _status_line(event: Retry | Compacting | Compacted | Notice | TurnEnd) -> _StatusLine:
    match event:
        case Retry(attempt, seconds, error):
            return RetryLine(attempt, seconds, error)
        case Compacting(tokens, why):
            return CompactionStartLine(tokens, why)
        case Compacted(entry, before, after, failure):
            return CompactionLine(entry, before, after, failure)
        case Notice(text, level):
            return NoticeLine(level, text)
        case TurnEnd(_, entry, leaf, usage, failure):
            return TurnEndLine(event.status, entry, leaf, usage_members(usage), failure)


def _message_line(
    event: TurnStart | Steered | MessageDone | Restarted | StepStart | StepEnd,
) -> _MessageLine:
    match event:
        case TurnStart(message, entry):
            return TurnStartLine(entry, blocks_text(message.content))
        case Steered(message, entry):
            return SteerLine(entry, blocks_text(message.content))
        case StepStart(number, model, request):
            return StepStartLine(number, model, request)
        case MessageDone(answer, entry):
            return MessageLine(entry, answer.stop_reason, answer.error_message)
        case Restarted():
            return RestartLine()
        case StepEnd(number, usage, tokens, window):
            return StepEndLine(number, usage_members(usage), tokens, window)


def _tool_line(event: ToolStart | ToolEnd | ApprovalNeeded) -> _ToolLine:
    call = event.call
    match event:
        case ToolStart(entry=started):
            return ToolCallLine(call.id, call.name, dict(call.arguments), started)
        case ToolEnd(result=result, entry=entry, is_refused=refused):
            text = blocks_text(result.content)
            return ToolResultLine(call.id, call.name, result.is_error, text, entry, refused)
        case ApprovalNeeded(shown=shown, rule_hint=hint):
            return ApprovalLine(call.id, call.name, shown, hint or None)
