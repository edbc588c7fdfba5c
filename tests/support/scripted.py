"""ScriptedProvider: answers from a list, keeps the requests. A fake, not a mock: it is a Provider.

A step of the script is a string (an answer), a tuple of calls, an exception to raise, or a callable
(request, abort) → iterator of events that does whatever a test needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.errors import ProviderError
from agentsh.jsontext import JsonObject
from agentsh.messages import AssistantMessage, StopReason, Text, ToolCall, ToolCallId, Usage
from agentsh.providers.api.bodies import encode_body
from agentsh.providers.base import (
    Finished,
    ModelInfo,
    Request,
    Shape,
    StreamEvent,
    TextDelta,
    ToolCallDelta,
)


class Call(Struct, frozen=True):
    """One tool call of a scripted answer."""

    id: str
    name: str
    arguments: JsonObject


Doing: TypeAlias = Callable[[Request, Abort], Iterator[StreamEvent]]
Step: TypeAlias = str | tuple[Call, ...] | ProviderError | Doing


class ScriptedProvider:
    """Plays a script, one step a request; the last step repeats."""

    name = "scripted"
    endpoint = "http://127.0.0.1:1/v1"
    api = "openai-completions"

    def __init__(
        self, *script: Step, window: int | None = None, usage: Usage | None = None
    ) -> None:
        self._script: Sequence[Step] = script
        self._window = window
        self._usage = usage or Usage(input=100, output=10, total_tokens=110)
        self.requests: list[Request] = []
        self.bodies: list[bytes] = []
        self.learned: list[Shape] = []

    def shape(self, model: str) -> Shape:
        return Shape()

    def learn(self, model: str, shape: Shape, error: Exception) -> Shape | None:
        return self.learned.pop(0) if self.learned else None

    def body(self, request: Request) -> bytes:
        return encode_body(request)

    def stream(self, body: bytes, request: Request, abort: Abort) -> Iterator[StreamEvent]:
        step = self._script[min(len(self.requests), len(self._script) - 1)]
        self.requests.append(request)
        self.bodies.append(body)
        match step:
            case str():
                yield from self.answering(step)
            case tuple():
                yield from self.calling(*step)
            case ProviderError():
                raise step
            case _:
                yield from step(request, abort)

    def message(self, *blocks: Text | ToolCall) -> AssistantMessage:
        stop: StopReason = "toolUse" if any(isinstance(b, ToolCall) for b in blocks) else "stop"
        return AssistantMessage(
            blocks, self.api, self.name, self.requests[-1].model, self._usage, stop
        )

    def answering(self, text: str) -> Iterator[StreamEvent]:
        yield TextDelta(text)
        yield Finished(self.message(Text(text)))

    def calling(self, *calls: Call, stop_reason: str = "toolUse") -> Iterator[StreamEvent]:
        blocks = [ToolCall(ToolCallId(c.id), c.name, c.arguments) for c in calls]
        for i, call in enumerate(calls):
            yield ToolCallDelta(i, call.name, "")
        message = self.message(*blocks)
        yield Finished(replace(message, stop_reason=stop_reason))

    def models(self, abort: Abort | None = None) -> tuple[ModelInfo, ...]:
        return (self.model_info("model-1"),)

    def model_info(self, model: str) -> ModelInfo:
        return ModelInfo(model, context_window=self._window)

    def close(self) -> None:
        pass
