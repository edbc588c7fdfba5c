"""Nobody answers: a provider for looking around in a chat while no endpoint is configured.

A session can be read, moved in, labelled and forked without a model; only a prompt needs one, and
then the words say what is missing. It stands alone as one provider of several. Read next: base.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentsh.abort import Abort
from agentsh.errors import UsageError
from agentsh.providers.api.bodies import encode_body
from agentsh.providers.base import ModelInfo, Request, Shape, StreamEvent

MODEL = "none"


class AbsentProvider:
    """See base.Provider. `words` and `hint` say how to get going."""

    name = "none"
    endpoint = "no endpoint"
    api = "openai-completions"

    def __init__(self, reason: str, hint: str | None) -> None:
        self._words = reason
        self._hint = hint

    def shape(self, model: str) -> Shape:
        """Raises UsageError: a turn asks for the shape first, so nothing is stored of it."""
        raise UsageError(self._words, hint=self._hint)

    def learn(self, model: str, shape: Shape, error: Exception) -> Shape | None:
        return None

    def body(self, request: Request) -> bytes:
        return encode_body(request)

    def stream(self, body: bytes, request: Request, abort: Abort) -> Iterator[StreamEvent]:
        raise UsageError(self._words, hint=self._hint)

    def models(self, abort: Abort | None = None) -> tuple[ModelInfo, ...]:
        return (ModelInfo(MODEL, source="nobody"),)

    def model_info(self, model: str) -> ModelInfo:
        return ModelInfo(model, source="nobody")

    def close(self) -> None:
        pass
