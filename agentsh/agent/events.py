"""What a frontend is told. A closed union of frozen values; read it with `match`.

Order within a turn: TurnStart, then per step StepStart, (TextPart | ThinkingPart | CallPart |
Retry | Restarted)*, MessageDone, then for each call (ApprovalNeeded | ToolStart)? ToolProgress*
ToolEnd, then StepEnd. Calls that run at once start together; ToolEnds come in the order of the
calls, one for each. Steered may stand between steps; so may Compacting, a Retry of its summary and
Compacted, the three also within a step that did not fit; a Notice anywhere. A step that fails or is
stopped may lack what comes after that. TurnEnd is last and always comes. `entry` is the id of the
entry in which the thing is stored; an event that carries one is sent after its entry was written,
and what it holds is what is stored.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Final, Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from agentsh.jsontext import JsonValue
from agentsh.messages import (
    AssistantMessage,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from agentsh.session.format.entries import EntryId
from agentsh.session.format.facts import TurnEndCause, TurnEndReason


class TurnStart(Struct, frozen=True):
    """A prompt was accepted and is durable."""

    message: UserMessage
    entry: EntryId


class StepStart(Struct, frozen=True):
    """A request is about to be sent. `number` counts from 1 within the turn."""

    number: int
    model: str
    entry: EntryId | None = None
    provider: str = ""
    """By its name: which endpoint is asked."""
    context_tokens: int | None = None
    """What is sent, by estimate, with the first request of a turn."""


class TextPart(Struct, frozen=True):
    """Some of the answer's text, as it comes."""

    text: str


class ThinkingPart(Struct, frozen=True):
    text: str


class CallPart(Struct, frozen=True):
    """A tool call is being written by the model; for a spinner, not for acting on."""

    index: int
    name: str
    arguments: str


class Restarted(Struct, frozen=True):
    """What was shown of this step's answer is void: the attempt failed and is made anew."""


class MessageDone(Struct, frozen=True):
    """The whole answer of a step, stored. Its stop reason may be error or aborted."""

    message: AssistantMessage
    entry: EntryId


class ToolStart(Struct, frozen=True):
    call: ToolCall
    entry: EntryId | None = None


class ToolProgress(Struct, frozen=True):
    call: ToolCall
    text: str


class ToolEnd(Struct, frozen=True):
    call: ToolCall
    result: ToolResultMessage
    entry: EntryId
    is_refused: bool = False
    """It was not run: a policy, a rule or a person said no."""


class ApprovalNeeded(Struct, frozen=True):
    """A call was asked about and nobody could answer; the turn stops before it (exit 6)."""

    call: ToolCall
    shown: str
    rule_hint: str


class Retry(Struct, frozen=True):
    """A request failed and will be sent again in `seconds`."""

    attempt: int
    seconds: float
    error: str


class Compacting(Struct, frozen=True):
    """A summary is about to be asked for; Compacted follows, or the error of `Agent.compact`."""

    tokens: int
    why: str | None = None
    """None: the person asked for it."""


class Compacted(Struct, frozen=True):
    """A compaction was made (or failed: `error`)."""

    entry: EntryId | None
    tokens_before: int
    tokens_after: int
    error: str | None = None
    usage: Usage = Usage()
    """What the summary took, where it was stored."""


class Steered(Struct, frozen=True):
    """A message was taken in mid-turn: one that was typed, or what is wrong with an answer."""

    message: UserMessage
    entry: EntryId


class Notice(Struct, frozen=True):
    """Something the user should know now: not saved, skipped lines, a truncating server."""

    text: str
    level: Literal["info", "warning", "error"] = "info"
    saved: bool | None = None
    """Whether the disk takes what is written, where this tells of it."""


class StepEnd(Struct, frozen=True):
    number: int
    usage: Usage
    context_tokens: int
    context_window: int | None
    estimated: bool = False
    """Whether something stands behind the last answer that a server measured."""


class TurnEnd(Struct, frozen=True):
    """The turn is at rest and durable. `error` holds the words for the user where it failed."""

    reason: TurnEndReason
    entry: EntryId | None
    leaf: EntryId | None
    usage: Usage
    error: str | None = None
    hint: str | None = None
    cause: TurnEndCause | None = None
    data: JsonValue | UnsetType = UNSET
    """The last answer as the value that it had to be."""

    @property
    def status(self) -> TurnEndReason | TurnEndCause:
        """The one word for programs."""
        return self.cause or self.reason


AgentEvent: TypeAlias = (
    TurnStart
    | StepStart
    | TextPart
    | ThinkingPart
    | CallPart
    | Restarted
    | MessageDone
    | ToolStart
    | ToolProgress
    | ToolEnd
    | ApprovalNeeded
    | Retry
    | Compacting
    | Compacted
    | Steered
    | Notice
    | StepEnd
    | TurnEnd
)

AgentEvents: TypeAlias = Generator[AgentEvent, None, None]
"""What happens, as it happens; to close it is to stop."""

_CODES: Final[Mapping[TurnEndReason | TurnEndCause, int]] = {
    "completed": 0,
    "blocked": 6,
    "max_steps": 6,
    "max_cost": 6,
    "max_time": 6,
    "aborted": 130,
}


def code_of(status: TurnEndReason | TurnEndCause) -> int:
    """The exit code of a process whose turn ended so."""
    return _CODES.get(status, 1)
