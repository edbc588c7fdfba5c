"""What is said: content blocks, messages, tool schemas, usage. Values without behaviour. Pure.

Shared by what stores (session), what sends (context, providers) and what happens (agent). The
persisted spelling of each is session/format/codec.py's; the wire spelling is
providers/api/chat.py's. `extra` holds members that we do not know and must give back (E30). Read
next: session/format/entries.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, NewType, TypeAlias

from msgspec import Struct, field

from agentsh.jsontext import JsonObject, JsonValue

ToolCallId = NewType("ToolCallId", str)

StopReason: TypeAlias = Literal["stop", "length", "toolUse", "error", "aborted"]
ThinkingLevel: TypeAlias = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]

THINKING_LEVELS: tuple[ThinkingLevel, ...] = (
    "off",
    "minimal",
    "low",
    "medium",
    "high",
    "xhigh",
    "max",
)

OWN_DETAILS: Final = "ash"
"""The member that holds what agentsh itself keeps in the `details` of a result or a compaction."""


_SKILL: Final = r'<skill name="([^"\n]+)" location="[^"\n]+">\n(.*?)\n</skill>(?:\n\n(.*))?'
"""How a called skill stands in a prompt: Pi's frame."""


class CalledSkill(Struct, frozen=True):
    """A prompt that calls a skill: `words` are what the person wrote behind its name."""

    name: str
    text: str
    words: str

    @property
    def typed(self) -> str:
        return f"/skill:{self.name} {self.words}".rstrip()


def called_skill(prompt: str) -> CalledSkill | None:
    """The skill that is called by it; None where it is anything else."""
    match = re.fullmatch(_SKILL, prompt, re.DOTALL) if prompt.startswith("<skill ") else None
    return None if match is None else CalledSkill(match[1], match[2], match[3] or "")


def typed_prompt(prompt: str) -> str:
    """What a person typed: of a skill that they called its name and their words."""
    skill = called_skill(prompt)
    return prompt if skill is None else skill.typed


def own_details(details: JsonValue) -> Mapping[str, JsonValue] | None:
    """What agentsh keeps there; None where another program wrote them."""
    ours = details.get(OWN_DETAILS) if isinstance(details, Mapping) else None
    return ours if isinstance(ours, Mapping) else None


class Text(Struct, frozen=True, gc=False):
    text: str
    extra: Mapping[str, JsonValue] = field(default_factory=dict)


class Thinking(Struct, frozen=True, gc=False):
    """Reasoning text. `signature`: for chat completions the name of the field it came in."""

    thinking: str
    signature: str | None = None
    redacted: bool = False
    extra: Mapping[str, JsonValue] = field(default_factory=dict)


class Image(Struct, frozen=True, gc=False):
    """`data` is base64, `mime_type` what the bytes are (not what a file name says)."""

    data: str
    mime_type: str


class ToolCall(Struct, frozen=True, gc=False):
    """A call as the model asked for it.

    `arguments` is what may be executed; where the model's own text did not parse as an object,
    it is {} and `raw_arguments` holds that text (S40) and `arguments_error` says why.
    """

    id: ToolCallId
    name: str
    arguments: JsonObject
    raw_arguments: str | None = None
    arguments_error: str | None = None
    extra: Mapping[str, JsonValue] = field(default_factory=dict)


AssistantBlock: TypeAlias = Text | Thinking | ToolCall
UserBlock: TypeAlias = Text | Image


class Cost(Struct, frozen=True, gc=False):
    """US dollars (or whatever currency the prices of the settings are in)."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    total: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.total + other.total,
        )


class Usage(Struct, frozen=True, gc=False):
    """Tokens. `input` leaves cached tokens out; `reasoning` is a part of `output`."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    total_tokens: int = 0
    reasoning: int = 0
    cost: Cost = Cost()

    def __add__(self, other: Usage) -> Usage:
        """Each figure, and each part of the cost, added up."""
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.total_tokens + other.total_tokens,
            self.reasoning + other.reasoning,
            self.cost + other.cost,
        )


class ToolSchema(Struct, frozen=True):
    """What the model is told of a tool; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: JsonObject
    extra: Mapping[str, JsonValue] = field(default_factory=dict)


class SystemMessage(Struct, frozen=True):
    """A patch of the system prompt and the tools in force (docs/session-format.md §6).

    A section set to None is removed; the first one of a path holds everything.
    """

    content: str = ""
    sections: Mapping[str, str | None] = field(default_factory=dict)
    tools_added: tuple[ToolSchema, ...] = ()
    tools_removed: tuple[str, ...] = ()
    timestamp: int = 0
    extra: Mapping[str, JsonValue] = field(default_factory=dict)


class UserMessage(Struct, frozen=True, gc=False):
    content: tuple[UserBlock, ...]
    timestamp: int = 0
    extra: Mapping[str, JsonValue] = field(default_factory=dict)


class AssistantMessage(Struct, frozen=True, gc=False):
    content: tuple[AssistantBlock, ...]
    api: str
    provider: str
    model: str
    usage: Usage
    stop_reason: StopReason
    timestamp: int = 0
    error_message: str | None = None
    response_id: str | None = None
    raw_stop_reason: str | None = None
    thinking_level: str | None = None
    duration_ms: int | None = None
    first_ms: int | None = None
    """From the request to the first chunk of a stream; None: it was none."""
    chunks: int | None = None
    extra: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple([b for b in self.content if isinstance(b, ToolCall)])

    @property
    def text(self) -> str:
        return "".join([b.text for b in self.content if isinstance(b, Text)])


class ToolResultMessage(Struct, frozen=True, gc=False):
    tool_call_id: ToolCallId
    tool_name: str
    content: tuple[UserBlock, ...]
    is_error: bool
    details: JsonValue = None
    timestamp: int = 0
    duration_ms: int | None = None
    extra: Mapping[str, JsonValue] = field(default_factory=dict)


class BashExecutionMessage(Struct, frozen=True):
    """`!command` typed by the person; `excluded` (`!!command`) keeps it from the model."""

    command: str
    output: str
    exit_code: int | None = None
    cancelled: bool = False
    truncated: bool = False
    full_output_path: str | None = None
    excluded: bool = False
    timestamp: int = 0
    extra: Mapping[str, JsonValue] = field(default_factory=dict)


class CustomRoleMessage(Struct, frozen=True):
    """Role `custom` of migrated v2 files; sent as a user's."""

    custom_type: str
    content: tuple[UserBlock, ...]
    display: bool = True
    details: JsonValue = None
    timestamp: int = 0
    extra: Mapping[str, JsonValue] = field(default_factory=dict)


class UnknownRoleMessage(Struct, frozen=True):
    """A role that this version does not know: kept as parsed, never sent."""

    role: str
    raw: JsonObject


Message: TypeAlias = (
    SystemMessage
    | UserMessage
    | AssistantMessage
    | ToolResultMessage
    | BashExecutionMessage
    | CustomRoleMessage
    | UnknownRoleMessage
)

# What the outbound pass hands to a provider: nothing but what a model can be told.
SentMessage: TypeAlias = UserMessage | AssistantMessage | ToolResultMessage


class ModelRef(Struct, frozen=True):
    """`provider` names the endpoint's profile ("openai-compatible" when there is but one)."""

    provider: str
    model: str
