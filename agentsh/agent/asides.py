"""Side questions: answered from the context of the leaf, as a branch that is left at once.

Before it is sent, the request is on record on the path, with the question in its `plan`: a fact,
which no model is told of. Question and answer come into the file together, below the request, and
with them the fact that the leaf is where it was; a file that ends between them has the leaf before
them (session/file/tail.py). So the next request's bytes are as if nothing had been asked, also
where a turn runs meanwhile. Tools and system prompt are those of the path, so that a provider's
cache is hit; a call is never run. May be asked from any thread. Read next: recorder.py.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Iterator

from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.events import AgentEvent, MessageDone, Notice, Retry, TextPart
from agentsh.agent.opening import Wanted, plan_opening
from agentsh.agent.turn.recorder import Recorder
from agentsh.agent.turn.requests import Prepared, Target, Where, aside_request, request_fact
from agentsh.context.projection import project
from agentsh.errors import AgentshError, EmptyAnswerError, ProviderError
from agentsh.messages import AssistantMessage, Text, UserMessage
from agentsh.providers.base import Finished, Provider, TextDelta
from agentsh.providers.wire.retry import plan_retry
from agentsh.session.format.entries import Entry
from agentsh.session.format.facts import AttemptEnded

MOST_ATTEMPTS = 8
CALLS_REFUSED = "the model wanted to call tools, which an aside may not: ask it as a prompt"


class Asides:
    """Asks the side questions of one session."""

    def __init__(
        self, recorder: Recorder, provider: Provider, max_retries: int, wanted: Wanted
    ) -> None:
        self._recorder = recorder
        self._provider = provider
        self._max_retries = max_retries
        self._wanted = wanted

    def ask(self, question: str, target: Target, turn: int, abort: Abort) -> Iterator[AgentEvent]:
        """The answer as it comes; MessageDone, its entry, is the last event.

        Raises ProviderError, SessionError: the place and the path are as they were.
        """
        failures, provider = 0, self._provider
        for attempt in range(1, MOST_ATTEMPTS + 1):
            prepared, request = self._recorded(question, target, turn, attempt)
            shown = False
            try:
                answer: AssistantMessage | None = None
                for event in provider.stream(prepared.body, prepared.request, abort):
                    if isinstance(event, TextDelta):
                        shown = True
                        yield TextPart(event.text)
                    if isinstance(event, Finished):
                        answer = event.message
                yield from self._answered(question, answer, request)
                return
            except ProviderError as e:
                error = e
            ended = AttemptEnded(request.id, str(error), error.status)
            self._recorder.attempt_failed(ended)
            self._recorder.settle()
            if shown:
                raise error
            shape = provider.learn(target.model, target.shape, error)
            if shape is not None:
                target = target.shaped(shape)
                continue
            failures += 1
            yield from _waited(error, failures, self._max_retries, abort)
        raise error

    def _recorded(
        self, question: str, target: Target, turn: int, attempt: int
    ) -> tuple[Prepared, Entry]:
        """The request from the leaf of now, durably on record."""
        with self._recorder.alone() as session:
            session.begin()
            context = project(session.live(session.leaf, repaired=False))
            if context.model is None:  # what the first prompt would find in force is, from here on
                for body in plan_opening(context, self._wanted):
                    session.append(body)
                context = project(session.live(session.leaf, repaired=False))
            leaf = session.leaf
            prepared = aside_request(context, target, question)
            where = Where(turn, attempt, leaf, "aside")
            fact = request_fact(prepared, self._provider.endpoint, where)
            request = self._recorder.request_durably(fact)
        return prepared, request

    def _answered(
        self, question: str, answer: AssistantMessage | None, request: Entry
    ) -> Generator[AgentEvent, None, None]:
        """Raises EmptyAnswerError: it said nothing, or was stopped."""
        if answer is None or not (answer.content and answer.stop_reason != "aborted"):
            raise EmptyAnswerError("the side question got no answer", retryable=False)
        said = UserMessage((Text(question),), self._recorder.now_ms())
        stored = replace(answer, timestamp=answer.timestamp or self._recorder.now_ms())
        entry = self._recorder.aside_durably(said, stored, request)
        if answer.tool_calls:
            yield Notice(CALLS_REFUSED, "warning")
        yield MessageDone(stored, entry.id)


def _waited(
    error: ProviderError, failures: int, max_retries: int, abort: Abort
) -> Iterator[AgentEvent]:
    """Until the next try; where there is to be none, raises the error."""
    wait = plan_retry(
        error,
        attempt=failures,
        max_retries=max_retries,
        jitter=random.random(),
        from_stored_state=True,
    )
    if wait is None:
        raise error
    yield Retry(failures, wait, str(error))
    if abort.wait(wait):
        raise AgentshError("the side question was stopped")
