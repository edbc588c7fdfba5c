"""One request to its answer: attempts, retries, one-time changes of shape, one compaction.

`ask` yields events and returns an Answer. Each attempt is a fact, durable before it is sent; a
failed one is a fact too. A retry never repeats what was shown (E22): once text was handed out, a
failure ends the step, and what came is kept as an answer with stop reason "error".
It runs no tools. Read next: requests.py, providers/retry.py.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.events import (
    AgentEvent,
    CallPart,
    MessageDone,
    Notice,
    Retry,
    StepStart,
    TextPart,
    ThinkingPart,
)
from agentsh.agent.projector import Projector
from agentsh.agent.recorder import Recorder
from agentsh.agent.requests import Prepared, Target, request_fact, step_request
from agentsh.agent.spool import StreamSpool
from agentsh.errors import ContextOverflowError, ProviderError
from agentsh.messages import AssistantMessage, Usage
from agentsh.providers.base import (
    Finished,
    Provider,
    Shape,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    Warned,
)
from agentsh.providers.retry import plan_retry
from agentsh.session.entries import EntryId
from agentsh.session.evidence import stream_spool
from agentsh.session.facts import AttemptEnded, RequestReason

# How often one step may be sent in another shape because a 400 named a field (E23, E24).
MAX_ADAPTATIONS = 8

Compactor: TypeAlias = Callable[[str], Generator[AgentEvent, None, bool]]


class Answer(Struct, frozen=True):
    """How a step's request ended. `error` None: well, or aborted (the stop reason says)."""

    message: AssistantMessage | None
    entry: EntryId | None
    error: ProviderError | None = None


class _Seen(Struct):
    """What one attempt has handed out."""

    shown: bool = False


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

    def ask(
        self,
        target: Target,
        *,
        turn: int,
        step: int,
        reason: RequestReason,
        abort: Abort,
        compact: Compactor,
    ) -> Generator[AgentEvent, None, Answer]:
        """Send until it is answered, or until nothing more can help."""
        failures = adaptations = attempt = 0
        overflowed = False
        why = reason
        # what the step before had to learn holds for this one as well
        target = target.shaped(self.provider.shape(target.model))
        while True:
            attempt += 1
            context = self._projector.now()
            prepared = step_request(context, target)
            fact = request_fact(
                prepared,
                target,
                self.provider,
                context,
                leaf=self.recorder.session.leaf,
                turn=turn,
                attempt=attempt,
                reason=why,
            )
            entry = self.recorder.request_durably(fact)
            if self._verify is not None:
                self._verify(entry.id)
            if attempt == 1:
                yield StepStart(step, target.model, entry.id)
            seen = _Seen()
            try:
                return (yield from self._stream(prepared, target, entry.id, seen, abort))
            except ProviderError as e:
                error = e
            if abort.is_set:
                return (yield from self._gave_up(error, entry.id, target, aborted=True))
            why = "retry"
            adapted = None if seen.shown else self._adapt(target, error, adaptations)
            if adapted is not None:
                adaptations += 1
                target = target.shaped(adapted)
                self.recorder.attempt_failed(AttemptEnded(entry.id, str(error), error.status))
                continue
            if isinstance(error, ContextOverflowError) and not overflowed and not seen.shown:
                overflowed = True
                self.recorder.attempt_failed(AttemptEnded(entry.id, str(error), error.status))
                if (yield from compact(str(error))):
                    continue
                return (yield from self._gave_up(error, entry.id, target))
            wait = self._wait(error, failures, seen)
            if wait is None:
                return (yield from self._gave_up(error, entry.id, target))
            failures += 1
            self.recorder.attempt_failed(AttemptEnded(entry.id, str(error), error.status, wait))
            yield Retry(failures, wait, str(error))
            if abort.wait(wait):
                return (yield from self._gave_up(error, entry.id, target, aborted=True))

    def _stream(
        self, prepared: Prepared, target: Target, entry: EntryId, seen: _Seen, abort: Abort
    ) -> Generator[AgentEvent, None, Answer]:
        """One attempt. Raises ProviderError."""
        path = self.recorder.session.path
        with StreamSpool(stream_spool(path, entry) if path else None) as spool:
            for event in self.provider.stream(prepared.body, prepared.request, abort):
                match event:
                    case TextDelta(text):
                        seen.shown = True
                        spool.add(time.monotonic(), text=text)
                        yield TextPart(text)
                    case ThinkingDelta(text):
                        spool.add(time.monotonic(), thinking=text)
                        yield ThinkingPart(text)
                    case ToolCallDelta(index, name, arguments):
                        yield CallPart(index, name, arguments)
                    case Warned(text):
                        yield Notice(text, "warning")
                    case Finished(message):
                        return (yield from self._answered(message, entry, target))
        raise ProviderError("the provider's stream ended without an end", retryable=False)

    def _answered(
        self, message: AssistantMessage, entry: EntryId, target: Target
    ) -> Generator[AgentEvent, None, Answer]:
        stored = replace(message, thinking_level=target.thinking)
        if stored.stop_reason == "aborted" and not stored.content:
            return Answer(None, None)
        saved = self.recorder.answer(stored, entry)
        yield MessageDone(stored, saved.id)
        return Answer(stored, saved.id)

    def _gave_up(
        self, error: ProviderError, request: EntryId, target: Target, *, aborted: bool = False
    ) -> Generator[AgentEvent, None, Answer]:
        """Keep what came, and say how it ended; such a message is never sent (A.9)."""
        partial: AssistantMessage | None = getattr(error, "partial", None)
        if partial is None:
            partial = AssistantMessage(
                (), self.provider.api, target.provider, target.model, Usage(), "error"
            )
        if aborted and not partial.content:
            return Answer(None, None)
        message = replace(
            partial,
            stop_reason="aborted" if aborted else "error",
            error_message=None if aborted else str(error),
            thinking_level=target.thinking,
        )
        saved = self.recorder.answer(message, request)
        yield MessageDone(message, saved.id)
        return Answer(message, saved.id, None if aborted else error)

    def _adapt(self, target: Target, error: ProviderError, so_far: int) -> Shape | None:
        if so_far >= MAX_ADAPTATIONS:
            return None
        return self.provider.learn(target.model, target.shape, error)

    def _wait(self, error: ProviderError, failures: int, seen: _Seen) -> float | None:
        if seen.shown:
            return None
        return plan_retry(
            error,
            attempt=failures + 1,
            max_retries=self.max_retries,
            jitter=random.random(),
            from_stored_state=True,
        )
