"""The seam to whoever answers: Provider, Request, StreamEvent. Values and protocols only.

A provider's body is a pure function of a Request, so that it can be rebuilt from the log byte for
byte (R33). A stream is an iterator of events that ends with exactly one `Finished`, or raises a
ProviderError; on abort it ends with `Finished` whose message has stop reason "aborted".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Protocol, TypeAlias

from msgspec import Struct, field

from agentsh.abort import Abort
from agentsh.images import MAX_IMAGE_BYTES, MAX_SIDE
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import AssistantMessage, SentMessage, ToolSchema

RESPONSES: Final = "openai-responses"
"""The other API that a shape may name; `Shape.api` is the usual one."""
NO_LIMIT: Final = 1 << 40
"""More than any request holds."""


class Shape(Struct, frozen=True):
    """How bodies for one endpoint and model are spelled: the dialect in force.

    Conservative by default; learned once from a 400 that names a field, and remembered
    (dialects.py). Stored with each request, so it must stay JSON (see `to_json`/`from_json` there).
    """

    api: str = "openai-completions"
    token_field: str = "max_tokens"
    """"max_tokens" or "max_completion_tokens"; sent only when a limit is asked for."""
    system_role: str = "system"
    stream_usage: bool = True
    """Send stream_options.include_usage."""
    reasoning_effort: bool = False
    """Tell the server of a thinking level other than off."""
    thinking_style: str = "effort"
    """How it is told: effort, openrouter, enabled, qwen, template (thinking.py)."""
    reasoning_echo: str = "auto"
    """When stored reasoning goes back to the model that gave it: never, calls, always, auto."""
    accepts_images: bool = True
    max_images: int = NO_LIMIT
    """Pictures in one request; the oldest are left out."""
    max_images_size: int = NO_LIMIT
    """Characters of base64 that the pictures of one request have together; likewise."""
    max_image_bytes: int = MAX_IMAGE_BYTES
    """Bytes of one picture before base64."""
    max_image_side: int = MAX_SIDE
    """Pixels."""
    merge_users: bool = False
    """Join neighbouring user messages (servers with strict alternation)."""
    bridge_after_tool: bool = False
    """Put a short assistant message between a tool result and a user message (E27)."""
    response_format: bool = True
    """Send the JSON Schema that an answer must fit, where there is one."""
    tools_with_calls: bool = False
    """Name tools wherever calls stand among the messages, offered or not (LiteLLM)."""
    short_call_ids: bool = False
    """Ids of calls must be nine letters or digits (Mistral)."""
    extra_body: Mapping[str, JsonValue] = field(default_factory=dict)
    """Fields the user's settings add to every body."""


class Request(Struct, frozen=True):
    """Everything that a body is made from. `messages` come out of the outbound pass."""

    model: str
    system: str
    messages: tuple[SentMessage, ...]
    tools: tuple[ToolSchema, ...] = ()
    thinking: str = "off"
    max_tokens: int | None = None
    shape: Shape = Shape()
    schema: JsonObject | None = None
    """What the answer must fit."""


class ModelInfo(Struct, frozen=True):
    """What is known of a model; None where nobody said. Prices are per million tokens."""

    id: str
    context_window: int | None = None
    max_output: int | None = None
    accepts_images: bool | None = None
    reasons: bool | None = None
    calls_tools: bool | None = None
    prices: Mapping[str, float] | None = None
    """Keys: input, output, cache_read, cache_write."""
    has_own_prices: bool = False
    """They are those of the settings."""
    source: str = "endpoint"
    """Where it comes from: endpoint, settings, built-in, learned."""
    may_hold_less: bool = False
    """The window is what such a model can hold; the server was perhaps started with less."""


# ---- what a stream says ----------------------------------------------------------------------


class TextDelta(Struct, frozen=True):
    text: str


class ThinkingDelta(Struct, frozen=True):
    text: str


class ToolCallDelta(Struct, frozen=True):
    """A call grows; for display only (`Finished` has the whole). `index` counts from 0."""

    index: int
    name: str
    arguments: str


class Warned(Struct, frozen=True):
    """The endpoint does something the user should know (it cuts prompts, say)."""

    text: str


class Finished(Struct, frozen=True):
    """Last event: the message, with usage and stop reason. `usage_known` False: no figures."""

    message: AssistantMessage
    usage_known: bool = True


StreamEvent: TypeAlias = TextDelta | ThinkingDelta | ToolCallDelta | Warned | Finished


class Provider(Protocol):
    """One endpoint. A stream may begin, be read and be stopped in one thread while another is read
    elsewhere: a side question beside a turn. All else is for one thread at a time."""

    @property
    def name(self) -> str:
        """The profile's name, stored as `provider`."""

    @property
    def endpoint(self) -> str:
        """Base URL without userinfo and query, for the log and for messages."""

    @property
    def api(self) -> str: ...

    def shape(self, model: str) -> Shape:
        """The dialect in which this model is asked now."""

    def learn(self, model: str, shape: Shape, error: Exception) -> Shape | None:
        """The shape to try after this failure (E23, E24, E27, E28), or None."""

    def body(self, request: Request) -> bytes:
        """The exact bytes to send. Pure."""

    def stream(self, body: bytes, request: Request, abort: Abort) -> Iterator[StreamEvent]:
        """Send and read. Raises ProviderError, whose `partial` is what came.

        Nothing is retried in here: attempts are facts, and the agent's to decide.
        """

    def models(self, abort: Abort | None = None) -> tuple[ModelInfo, ...]:
        """What the endpoint lists; nothing where that was stopped. Raises ProviderError."""

    def model_info(self, model: str) -> ModelInfo:
        """What is known of one model without asking the endpoint again."""

    def close(self) -> None: ...
