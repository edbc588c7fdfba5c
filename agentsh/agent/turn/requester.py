"""One request to its answer: attempts, retries, one-time changes of shape, one compaction.

`ask` yields events and returns a RequestEnd. Each attempt is a fact, durable before it is sent; a
failed one is a fact too. A retry never repeats what was shown (E22): once text was handed out, a
failure ends the step, and what came is kept as an answer with stop reason "error". Reasoning and
calls that were only seen being written are taken back by `Restarted`.
It runs no tools. Read next: requests.py, providers/wire/retry.py.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Generator
from typing import TypeAlias, assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.events import (
    AgentEvent,
    CallPart,
    MessageDone,
    Notice,
    Restarted,
    Retry,
    StepStart,
    TextPart,
    ThinkingPart,
)
from agentsh.agent.turn.projector import Projector
from agentsh.agent.turn.recorder import Recorder
from agentsh.agent.turn.requests import (
    Prepared,
    Target,
    Where,
    request_fact,
    schema_request,
    step_request,
)
from agentsh.agent.turn.spool import StreamSpool
from agentsh.errors import (
    AnswerLimitError,
    ContextOverflowError,
    ImageLimitError,
    ProviderError,
    RequestRejectedError,
)
from agentsh.jsontext import JsonObject
from agentsh.messages import AssistantMessage, StopReason, Text, Thinking, Usage
from agentsh.providers.base import (
    Finished,
    Provider,
    Shape,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    Warned,
)
from agentsh.providers.wire.retry import plan_retry
from agentsh.session.format.decoding import collecting_paused
from agentsh.session.format.entries import EntryId
from agentsh.session.format.facts import AttemptEnded, RequestReason
from agentsh.session.health.evidence import stream_spool

# How often one step may be sent in another shape because a 400 named a field (E23, E24).
MAX_ADAPTATIONS = 8
_FEWER_PICTURES = (
    "Asked again without those that it does not take, the oldest first; the session keeps them"
)
_KEPT = "What came is kept. `agentsh retry last`, in the chat /retry, asks once more beside it."
_NO_PICTURES = "takes no pictures: it is asked without them from here on; the session keeps them"

CompactNow: TypeAlias = Callable[[str], Generator[AgentEvent, None, bool]]


class RequestEnd(Struct, frozen=True):
    """How a step's request ended. `error` None: well, or aborted (the stop reason says)."""

    message: AssistantMessage | None
    entry: EntryId | None
    error: ProviderError | None = None


class StepWish(Struct, frozen=True):
    """Which step asks, and what of."""

    turn: int
    step: int
    reason: RequestReason
    schema: JsonObject | None = None
    """The answer is to fit it, and no tool is offered."""
    tokens: int | None = None
    """What is said to weigh."""


class _Step(Struct):
    """One step's request, and how often what was tried with it."""

    target: Target
    turn: int
    number: int
    why: RequestReason
    abort: Abort
    compact: CompactNow
    schema: JsonObject | None
    attempts: int = 0
    failures: int = 0
    adaptations: int = 0
    has_compacted: bool = False
    has_lowered: bool = False


class _Attempt(Struct):
    """One attempt, and what it has handed out."""

    prepared: Prepared
    target: Target
    entry: EntryId
    spool: StreamSpool
    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    has_calls: bool = False
    is_kept: bool = False

    def partial(self, api: str) -> AssistantMessage:
        """What was handed out, as a message."""
        thinking = (Thinking("".join(self.thinking)),) if self.thinking else ()
        text = (Text("".join(self.text)),) if self.text else ()
        target = self.target
        return AssistantMessage(
            (*thinking, *text), api, target.provider, target.model, Usage(), "error"
        )


class Asker:
    """Sends the requests of one session to one provider."""

    def __init__(
        self,
        recorder: Recorder,
        projector: Projector,
        provider: Provider,
        *,
        max_retries: int,
        verify: Callable[[EntryId], None] | None = None,
    ) -> None:
        self.recorder = recorder
        self.provider = provider
        self.max_retries = max_retries
        self._projector = projector
        self._verify = verify
        self._no_more_waits = threading.Event()
        self._most: dict[str, int] = {}
        """What an answer of a model may take at most, where a refusal said so."""

    def use(self, provider: Provider, max_retries: int) -> None:
        """Ask that one from now on."""
        self.provider, self.max_retries = provider, max_retries
        self._most.clear()

    def stop_retrying(self) -> None:
        """End the wait for a repeat that runs now; the failure stands. Thread-safe."""
        self._no_more_waits.set()

    def ask(
        self,
        target: Target,
        wish: StepWish,
        *,
        abort: Abort,
        compact: CompactNow,
    ) -> Generator[AgentEvent, None, RequestEnd]:
        """Send until it is answered, or until nothing more can help."""
        # what the step before had to learn holds for this one as well
        target = target.shaped(self.provider.shape(target.model))
        if (most := self._most.get(target.model)) is not None:
            target = replace(target, max_tokens=min(target.max_tokens or most, most))
        asked = _Step(target, wish.turn, wish.step, wish.reason, abort, compact, wish.schema)
        while True:
            attempt = self._recorded(asked)
            if asked.attempts == 1:
                yield StepStart(
                    wish.step, target.model, attempt.entry, target.provider, wish.tokens
                )
            try:
                return (yield from self._stream(attempt, abort))
            except ProviderError as e:
                error = e
            again = yield from self._again(asked, attempt, error)
            if not again or abort.is_set:
                return (yield from self._gave_up(attempt, error, aborted=abort.is_set))
            attempt.spool.discard()
            asked.why = "retry"

    def _recorded(self, asked: _Step) -> _Attempt:
        """The next attempt, durably on record."""
        asked.attempts += 1
        with collecting_paused():
            context, schema = self._projector.now(), asked.schema
            if schema is None:
                prepared = step_request(context, asked.target)
            else:
                prepared = schema_request(context, asked.target, schema)
        session = self.recorder.session
        where = Where(asked.turn, asked.attempts, session.leaf, asked.why)
        fact = request_fact(prepared, self.provider.endpoint, where)
        entry = self.recorder.request_durably(fact)
        if self._verify is not None:
            self._verify(entry.id)
        spool = stream_spool(session.path, entry.id) if session.path else None
        return _Attempt(prepared, asked.target, entry.id, StreamSpool(spool))

    # ---- one attempt ---------------------------------------------------------------------------

    def _stream(self, attempt: _Attempt, abort: Abort) -> Generator[AgentEvent, None, RequestEnd]:
        """Read the answer as it comes. Raises ProviderError."""
        prepared = attempt.prepared
        try:
            for event in self.provider.stream(prepared.body, prepared.request, abort):
                if isinstance(event, Finished):
                    return (yield from self._answered(attempt, event.message))
                yield self._shown(attempt, event)
        except GeneratorExit:
            # nobody listens any more: what came is kept as if it had been stopped
            if not attempt.is_kept and (attempt.text or attempt.thinking):
                self._keep(attempt, attempt.partial(self.provider.api), "aborted")
            attempt.spool.discard()
            raise
        finally:
            attempt.spool.close()
        raise ProviderError("the provider's stream ended without an end", retryable=False)

    def _shown(
        self, attempt: _Attempt, event: TextDelta | ThinkingDelta | ToolCallDelta | Warned
    ) -> AgentEvent:
        now = time.monotonic()
        match event:
            case TextDelta(text):
                attempt.text.append(text)
                attempt.spool.add(now, text=text)
                return TextPart(text)
            case ThinkingDelta(text):
                attempt.thinking.append(text)
                attempt.spool.add(now, thinking=text)
                return ThinkingPart(text)
            case ToolCallDelta(index, name, arguments):
                attempt.has_calls = True
                return CallPart(index, name, arguments)
            case Warned(text):
                return Notice(text, "warning")
            case _:
                assert_never(event)

    def _answered(
        self, attempt: _Attempt, message: AssistantMessage
    ) -> Generator[AgentEvent, None, RequestEnd]:
        if message.stop_reason == "aborted" and not message.content:
            attempt.is_kept = True
            attempt.spool.discard()
            return RequestEnd(None, None)
        stored, entry = self._keep(attempt, message, message.stop_reason)
        yield MessageDone(stored, entry)
        return RequestEnd(stored, entry)

    def _gave_up(
        self, attempt: _Attempt, error: ProviderError, *, aborted: bool
    ) -> Generator[AgentEvent, None, RequestEnd]:
        """Keep what came, and say how it ended; such a message is never sent."""
        given = error.partial
        partial = (
            given if isinstance(given, AssistantMessage) else attempt.partial(self.provider.api)
        )
        if aborted and not partial.content:
            attempt.spool.discard()
            return RequestEnd(None, None)
        stop: StopReason = "aborted" if aborted else "error"
        if attempt.text and error.hint is None:
            error.hint = _KEPT
        message = None if aborted else str(error)
        stored, entry = self._keep(attempt, replace(partial, error_message=message), stop)
        yield MessageDone(stored, entry)
        return RequestEnd(stored, entry, None if aborted else error)

    def _keep(
        self, attempt: _Attempt, message: AssistantMessage, stop: StopReason
    ) -> tuple[AssistantMessage, EntryId]:
        attempt.is_kept = True
        stored = replace(
            message,
            stop_reason=stop,
            thinking_level=attempt.target.thinking,
            timestamp=message.timestamp or self.recorder.now_ms(),
        )
        entry = self.recorder.answer(stored, attempt.entry)
        attempt.spool.discard()
        return stored, entry.id

    # ---- after a failure -----------------------------------------------------------------------

    def _again(
        self, asked: _Step, attempt: _Attempt, error: ProviderError
    ) -> Generator[AgentEvent, None, bool]:
        """Whether to send once more, after whatever has to be done or waited for before."""
        if asked.abort.is_set or attempt.text:
            return False
        shape = self._adapted(asked, error)
        if shape is not None:
            asked.adaptations += 1
            is_blind = asked.target.shape.accepts_images and not shape.accepts_images
            asked.target = asked.target.shaped(shape)
            yield from self._failed(attempt, error)
            if isinstance(error, ImageLimitError):
                yield Notice(f"{error}. {_FEWER_PICTURES}", "warning")
            elif is_blind:
                yield Notice(f"{asked.target.model} {_NO_PICTURES}", "warning")
            return True
        if isinstance(error, AnswerLimitError) and self._asks_less(asked, error):
            yield from self._failed(attempt, error)
            return True
        if isinstance(error, ContextOverflowError) and not asked.has_compacted:
            asked.has_compacted = True
            yield from self._failed(attempt, error)
            return (yield from asked.compact(str(error)))
        wait = plan_retry(
            error,
            attempt=asked.failures + 1,
            max_retries=self.max_retries,
            jitter=random.random(),
            from_stored_state=True,
        )
        if wait is None:
            return False
        asked.failures += 1
        yield from self._failed(attempt, error, wait)
        self._no_more_waits.clear()  # whoever hears of the wait may end it at once
        yield Retry(asked.failures, wait, str(error))
        with asked.abort.calling(self._no_more_waits.set):
            return not self._no_more_waits.wait(wait)

    def _asks_less(self, asked: _Step, error: AnswerLimitError) -> bool:
        """Once a step, what the server's words leave room for; never below a person's own limit."""
        limit, ours = asked.target.max_tokens, self._most.get(asked.target.model)
        is_ours = limit is None or limit == ours
        if asked.has_lowered or not error.room or not is_ours or error.room >= (limit or 1 << 60):
            return False
        asked.has_lowered = True
        self._most[asked.target.model] = error.room
        asked.target = replace(asked.target, max_tokens=error.room)
        return True

    def _failed(
        self, attempt: _Attempt, error: ProviderError, wait: float | None = None
    ) -> Generator[AgentEvent, None, None]:
        """On record; and what was shown of it is void."""
        self.recorder.attempt_failed(AttemptEnded(attempt.entry, str(error), error.status, wait))
        if attempt.thinking or attempt.has_calls:
            yield Restarted()

    def _adapted(self, asked: _Step, error: ProviderError) -> Shape | None:
        if asked.adaptations >= MAX_ADAPTATIONS:
            return None
        shape = asked.target.shape
        learned = self.provider.learn(asked.target.model, shape, error)
        if learned is None and _may_be_schema(asked, error):
            return replace(shape, response_format=False)  # of this schema, so not to be remembered
        return learned


def _may_be_schema(asked: _Step, error: ProviderError) -> bool:
    """Whether the schema in the request may be what was refused, in whatever words."""
    return (
        asked.schema is not None
        and asked.target.shape.response_format
        and isinstance(error, RequestRejectedError)
        and not isinstance(error, AnswerLimitError | ContextOverflowError | ImageLimitError)
        and error.status in (400, 422)
    )
