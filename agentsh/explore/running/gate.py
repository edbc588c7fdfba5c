"""The gate: a provider that asks for a permit before each request. Wraps whatever answers.

Beside the agent's own budget, and without any change of the agent: every request goes through its
provider, summaries and titles too. A refusal that names a wait (429, 503) is told to whoever gives
permits, for all branches of the endpoint, and takes no retry of the turn: the same bytes go out
again with the next permit. Read next: runner.py, permits.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Protocol

from agentsh.abort import Abort
from agentsh.context.tokens import IMAGE_TOKENS, estimate_text
from agentsh.errors import AuthenticationError, ProviderError
from agentsh.messages import AssistantMessage, Usage
from agentsh.providers.base import (
    Finished,
    ModelInfo,
    Provider,
    Request,
    Shape,
    StreamEvent,
    Warned,
)

_IMAGE = re.compile(rb"data:image/[^\"]*")
_WAITING = frozenset((429, 503))
DEFAULT_WAIT = 5.0
"""Seconds, where a refusal names none."""
MOST_REFUSALS = 20


def estimate_body(body: bytes) -> int:
    """Tokens of a request, by the rule of all estimates; a picture weighs what pictures do."""
    words, pictures = _IMAGE.subn(b"", body)
    return estimate_text(words.decode("utf-8", "replace")) + pictures * IMAGE_TOKENS


class PermitAsker(Protocol):
    """Whoever gives permits; a runner asks its coordinator."""

    def wait_for(self, endpoint: str, tokens: int, cost: float, abort: Abort) -> None:
        """Raises RequestDeniedError; returns as well where `abort` was set."""

    def began(self) -> None: ...

    def used(self, usage: Usage) -> None: ...

    def refused(self, seconds: float, why: str) -> None: ...

    def key_refused(self, why: str) -> None: ...


class GatedProvider:
    """Satisfies providers/base.Provider."""

    def __init__(self, inner: Provider, permits: PermitAsker) -> None:
        self._inner = inner
        self._permits = permits
        self._ratio = 1.0
        """What the server counted of what we expected, in the last answer."""

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def endpoint(self) -> str:
        return self._inner.endpoint

    @property
    def api(self) -> str:
        return self._inner.api

    def shape(self, model: str) -> Shape:
        return self._inner.shape(model)

    def learn(self, model: str, shape: Shape, error: Exception) -> Shape | None:
        return self._inner.learn(model, shape, error)

    def body(self, request: Request) -> bytes:
        return self._inner.body(request)

    def models(self, abort: Abort | None = None) -> tuple[ModelInfo, ...]:
        return self._inner.models(abort)

    def model_info(self, model: str) -> ModelInfo:
        return self._inner.model_info(model)

    def close(self) -> None:
        self._inner.close()

    def stream(self, body: bytes, request: Request, abort: Abort) -> Iterator[StreamEvent]:
        """As the inner one's, once there is a permit. Raises ProviderError, RequestDeniedError."""
        expected = max(1, estimate_body(body))
        for refusals in range(MOST_REFUSALS + 1):
            tokens = round(expected * self._ratio)
            cost = tokens * self._price(request.model) / 1e6
            self._permits.wait_for(self.endpoint, tokens, cost, abort)
            if abort.is_set:
                yield self._aborted(request)
                return
            try:
                yield from self._sent(body, request, abort, expected)
            except ProviderError as e:
                if e.status in _WAITING and not e.emitted and refusals < MOST_REFUSALS:
                    wait = DEFAULT_WAIT if e.retry_after is None else e.retry_after
                    self._permits.refused(wait, str(e))
                    continue
                self._permits.used(Usage())
                if isinstance(e, AuthenticationError):
                    self._permits.key_refused(str(e))
                raise
            return

    def _sent(
        self, body: bytes, request: Request, abort: Abort, expected: int
    ) -> Iterator[StreamEvent]:
        has_begun = False
        for event in self._inner.stream(body, request, abort):
            if not has_begun and not isinstance(event, Warned):
                has_begun = True
                self._permits.began()
            if isinstance(event, Finished):
                usage = event.message.usage
                sent = usage.input + usage.cache_read + usage.cache_write
                if sent:
                    self._ratio = sent / expected
                self._permits.used(usage)
            yield event

    def _price(self, model: str) -> float:
        prices = self._inner.model_info(model).prices
        return 0.0 if prices is None else prices.get("input", 0.0)

    def _aborted(self, request: Request) -> Finished:
        return Finished(
            AssistantMessage((), self.api, self.name, request.model, Usage(), "aborted"), False
        )


Gating = Callable[[Provider], Provider]
