"""What the chat says of itself, as one value, and what each thing that happens makes of it. Pure.

The footer, the marks of pickers and the words of commands are drawn from a `ChatState`
(footer.py); nothing else remembers what is in force or what is waited for (docs/adr/0033). `now` is
monotonic seconds. Read next: footer.py, ui/chat/chat.py.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from agentsh.agent.config import StatusFigures
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
from agentsh.context.tokens import estimate_message, total_tokens, usage_is_plausible
from agentsh.messages import AssistantMessage, ToolCallId, Usage


class Waiting(Struct, frozen=True):
    """An answer that nothing has come of yet; `since` when, or `until` when for its repeat."""

    kind: Literal["answer", "summary"]
    since: float
    until: float | None = None
    attempt: int = 0


class RunningCall(Struct, frozen=True):
    """A tool call at work."""

    id: ToolCallId
    tool: str
    since: float


class ChatState(Struct, frozen=True):
    """What is in force, what was used, what is waited for."""

    is_known: bool = False
    """Whether the agent has reported yet."""
    endpoint: str = ""
    model: str = ""
    """What the next request asks; while a step runs, what it asked."""
    thinking: str = "off"
    policy: str = ""
    sandbox: bool = False
    cwd: str = ""
    allowed: tuple[str, ...] = ()
    tokens: int = 0
    """Of the context."""
    estimated: bool = False
    window: int | None = None
    usage: Usage = Usage()
    cost: float = 0.0
    saved: bool = True
    since: float | None = None
    """When the running job began; None at rest."""
    can_stop: bool = True
    """Whether the job looks at an abort, as the agent's do."""
    looks_for: str = ""
    """What a job that is not the agent's waits for."""
    waiting: Waiting | None = None
    calls: tuple[RunningCall, ...] = ()
    queued: int = 0
    asks: bool = False
    """A question is open: it is the person who is waited for."""


class Began(Struct, frozen=True):
    """A job was started; the agent's, where nothing else is looked for."""

    can_stop: bool = True
    looks_for: str = ""


class Rested(Struct, frozen=True):
    """It is over, however it ended."""


class Around(Struct, frozen=True):
    """What the inbox and the desk hold now."""

    queued: int
    asks: bool


Happening: TypeAlias = AgentEvent | StatusFigures | Began | Rested | Around


def fold(state: ChatState, what: Happening, now: float) -> ChatState:
    """The state after that."""
    match what:
        case StatusFigures():
            return _reported(state, what)
        case Began() | Rested() | Around():
            return _around(state, what, now)
        case StepStart() | Restarted() | Retry() | Compacting() | Compacted():
            return _waiting(state, what, now)
        case TurnStart() | Steered() | MessageDone() | StepEnd():
            return _weighed(state, what)
        case ToolStart() | ToolEnd() | ToolProgress() | ApprovalNeeded():
            return _called(state, what, now)
        case TextPart() | ThinkingPart() | CallPart():
            return state if state.waiting is None else replace(state, waiting=None)
        case Notice(saved=saved):
            return state if saved is None else replace(state, saved=saved)
        case TurnEnd():
            return replace(state, waiting=None, calls=())
        case _:
            assert_never(what)


def _around(state: ChatState, what: Began | Rested | Around, now: float) -> ChatState:
    match what:
        case Began(can_stop, looks_for):
            return replace(state, since=now, can_stop=can_stop, looks_for=looks_for)
        case Rested():
            rested = replace(state, since=None, can_stop=True, looks_for="")
            return replace(rested, waiting=None, calls=())
        case Around(queued, asks):
            return replace(state, queued=queued, asks=asks)
        case _:
            assert_never(what)


def _called(
    state: ChatState, what: ToolStart | ToolEnd | ToolProgress | ApprovalNeeded, now: float
) -> ChatState:
    match what:
        case ToolStart(call):
            begun = RunningCall(call.id, call.name, now)
            return replace(state, waiting=None, calls=(*state.calls, begun))
        case ToolEnd(call, result):
            left = tuple(each for each in state.calls if each.id != call.id)
            return _gained(replace(state, calls=left), estimate_message(result))
        case ToolProgress() | ApprovalNeeded():
            return state
        case _:
            assert_never(what)


def _weighed(state: ChatState, what: TurnStart | Steered | MessageDone | StepEnd) -> ChatState:
    match what:
        case TurnStart(message) | Steered(message):
            return _gained(state, estimate_message(message))
        case MessageDone(message):
            return _answered(state, message)
        case StepEnd(context_tokens=tokens, context_window=window, estimated=estimated):
            return replace(state, tokens=tokens, window=window, estimated=estimated, calls=())
        case _:
            assert_never(what)


def _reported(state: ChatState, figures: StatusFigures) -> ChatState:
    return replace(
        state,
        is_known=True,
        endpoint=figures.endpoint,
        model=figures.model,
        thinking=figures.thinking,
        policy=figures.policy,
        sandbox=figures.sandbox,
        cwd=figures.cwd,
        allowed=figures.allowed,
        tokens=figures.context_tokens,
        estimated=figures.estimated,
        window=figures.context_window,
        usage=figures.usage,
        cost=figures.cost,
        saved=figures.saved,
    )


def _waiting(
    state: ChatState, what: StepStart | Restarted | Retry | Compacting | Compacted, now: float
) -> ChatState:
    before = state.waiting or Waiting("answer", now)
    match what:
        case StepStart(model=model, provider=provider, context_tokens=tokens):
            if tokens is not None and tokens != state.tokens:
                state = replace(state, tokens=tokens, estimated=True)
            waiting = Waiting("answer", now)
            return replace(state, model=model, endpoint=provider or state.endpoint, waiting=waiting)
        case Restarted():
            return replace(state, waiting=Waiting("answer", now))
        case Retry(attempt, seconds):
            waiting = replace(before, until=now + seconds, attempt=attempt)
            return replace(state, waiting=waiting)
        case Compacting():
            return replace(state, waiting=Waiting("summary", now))
        case Compacted(error=str()):
            return replace(state, waiting=None)
        case Compacted(tokens_after=tokens, usage=usage):
            state = replace(state, waiting=None, tokens=tokens, estimated=True)
            return _spent(state, usage)
        case _:
            assert_never(what)


def _answered(state: ChatState, message: AssistantMessage) -> ChatState:
    """Its usage measures the context; without one that is plausible, it is reckoned."""
    state = _spent(replace(state, waiting=None), message.usage)
    if message.stop_reason in ("error", "aborted"):
        return state  # never sent
    if usage_is_plausible(message.usage, state.tokens):
        return replace(state, tokens=total_tokens(message.usage), estimated=False)
    return _gained(state, estimate_message(message))


def _gained(state: ChatState, tokens: int) -> ChatState:
    return replace(state, tokens=state.tokens + tokens, estimated=True)


def _spent(state: ChatState, usage: Usage) -> ChatState:
    return replace(state, usage=state.usage + usage, cost=state.cost + usage.cost.total)
