"""The lines that make up nearly all of a file, in one pass of C: messages and `custom` entries.

A line whose members are all known and of the usual types is decoded into the private types below
and from them into an entry. Anything else (an unknown member, null where a number stands, a lone
surrogate, what is no JSON, what is nested too deep) yields None, and codec.py reads it leniently;
both ways give equal entries, which a property checks. It also never rounds an integer. How deep a
line is nested is looked for in the members that may hold any JSON: the others are as deep as their
types, and to count the brackets of a line takes as long as half of its decoding (measured).
Read next: codec.py.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, TypeAlias, cast

from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec.json import Decoder

from agentsh.jsontext import DEEPEST, JsonObject, JsonValue, is_value_deeper
from agentsh.messages import (
    AssistantBlock,
    AssistantMessage,
    Cost,
    Image,
    Message,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolCallId,
    ToolResultMessage,
    Usage,
    UserBlock,
    UserMessage,
)
from agentsh.session.format.blockcodec import NOTHING
from agentsh.session.format.entries import Custom, Entry, EntryId, MessageBody, Stamp

# the lenient reader takes a larger count for none
_Count = Annotated[int, Meta(gt=-(2**63), le=2**63 - 1)]
_Scalar: TypeAlias = bool | int | float | str | None


class _Shape(
    Struct, frozen=True, rename="camel", forbid_unknown_fields=True, tag_field="type", gc=False
):
    """Members of an object in the file; a name in snake case stands for Pi's in camel case."""


class _Said(_Shape, frozen=True, tag_field="role"):
    pass


class _Cost(Struct, frozen=True, rename="camel", forbid_unknown_fields=True, gc=False):
    input: float
    output: float
    cache_read: float
    cache_write: float
    total: float
    total_from_provider: _Scalar = None


class _Usage(Struct, frozen=True, rename="camel", forbid_unknown_fields=True, gc=False):
    input: _Count
    output: _Count
    cache_read: _Count
    cache_write: _Count
    cost: _Cost
    total_tokens: _Count | UnsetType = UNSET
    reasoning: _Count = 0
    cache_write_1h: _Scalar = field(default=None, name="cacheWrite1h")


class _Text(_Shape, frozen=True, tag="text"):
    text: str
    text_signature: str | UnsetType | None = UNSET


class _Image(_Shape, frozen=True, tag="image"):
    data: str
    mime_type: str


class _Thinking(_Shape, frozen=True, tag="thinking"):
    thinking: str
    thinking_signature: str | None = None
    redacted: bool = False


class _ToolCall(_Shape, frozen=True, tag="toolCall"):
    id: ToolCallId
    name: str
    arguments: dict[str, Any]
    raw_arguments: str | None = None
    arguments_error: str | None = None


class _User(_Said, frozen=True, tag="user"):
    content: list[_Text | _Image]
    timestamp: int


class _Assistant(_Said, frozen=True, tag="assistant"):
    content: list[_Text | _Thinking | _ToolCall]
    api: str
    provider: str
    model: str
    usage: _Usage
    stop_reason: StopReason
    timestamp: int
    error_message: str | None = None
    response_id: str | None = None
    raw_stop_reason: str | None = None
    thinking_level: str | None = None
    duration_ms: int | None = None
    first_ms: int | None = None
    chunks: int | None = None


class _ToolResult(_Said, frozen=True, tag="toolResult"):
    tool_call_id: ToolCallId
    tool_name: str
    content: list[_Text | _Image]
    is_error: bool
    timestamp: int
    details: Any = None
    duration_ms: int | None = None


class _Ash(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    s: str
    n: int
    src: tuple[EntryId, ...] = ()
    req: EntryId | None = None
    code: str | None = None
    h: str | None = None


class _MessageLine(_Shape, frozen=True, tag=MessageBody.type):
    id: EntryId
    parent_id: EntryId | None
    timestamp: str
    message: _User | _Assistant | _ToolResult
    ash: _Ash | UnsetType = UNSET


class _CustomLine(_Shape, frozen=True, tag=Custom.type):
    id: EntryId
    parent_id: EntryId | None
    timestamp: str
    custom_type: str
    data: Any = None
    ash: _Ash | UnsetType = UNSET


@cache
def _decoder() -> Decoder[_MessageLine | _CustomLine]:
    """Made when first needed: a session that begins reads no line."""
    return Decoder(_MessageLine | _CustomLine)


def decode_usual_line(data: bytes) -> Entry | None:
    """The entry of a line of the usual shape; None: it has to be read leniently."""
    try:
        line = _decoder().decode(data)
        return _entry(line) if line.id else None
    except (ValueError, RecursionError):
        return None


def _entry(line: _MessageLine | _CustomLine) -> Entry:
    """Raises ValueError for what is nested too deep."""
    ash = line.ash
    return Entry(
        line.id,
        line.parent_id,
        line.timestamp,
        MessageBody(_message(line.message))
        if isinstance(line, _MessageLine)
        else Custom(line.custom_type, _bounded(line.data, 1)),
        None if ash is UNSET else Stamp(ash.s, ash.n, ash.h, ash.src, ash.req, ash.code),
        NOTHING,
    )


def _message(said: _User | _Assistant | _ToolResult) -> Message:
    # exact types are found at once, and half of all messages are answers
    if isinstance(said, _Assistant):
        return _answer(said)
    content = tuple([_user_block(each) for each in said.content])
    if isinstance(said, _User):
        return UserMessage(content, said.timestamp, NOTHING)
    return ToolResultMessage(
        said.tool_call_id,
        said.tool_name,
        content,
        said.is_error,
        _bounded(said.details, 2),
        said.timestamp,
        said.duration_ms,
        NOTHING,
    )


def _answer(said: _Assistant) -> AssistantMessage:
    used = said.usage
    cost = used.cost
    total = used.total_tokens
    if total is UNSET:
        total = used.input + used.output + used.cache_read + used.cache_write
    return AssistantMessage(
        tuple([_answer_block(each) for each in said.content]),
        said.api,
        said.provider,
        said.model,
        Usage(
            used.input,
            used.output,
            used.cache_read,
            used.cache_write,
            total,
            used.reasoning,
            Cost(cost.input, cost.output, cost.cache_read, cost.cache_write, cost.total),
        ),
        said.stop_reason,
        said.timestamp,
        said.error_message,
        said.response_id,
        said.raw_stop_reason,
        said.thinking_level,
        said.duration_ms,
        said.first_ms,
        said.chunks,
        NOTHING,
    )


def _user_block(block: _Text | _Image) -> UserBlock:
    if isinstance(block, _Text):
        return _text(block)
    return Image(block.data, block.mime_type)


def _answer_block(block: _Text | _Thinking | _ToolCall) -> AssistantBlock:
    if isinstance(block, _Text):
        return _text(block)
    if isinstance(block, _ToolCall):
        return ToolCall(
            block.id,
            block.name,
            cast("JsonObject", _bounded(block.arguments, 4)),
            block.raw_arguments,
            block.arguments_error,
            NOTHING,
        )
    return Thinking(block.thinking, block.thinking_signature, block.redacted, NOTHING)


def _text(block: _Text) -> Text:
    signature = block.text_signature
    return Text(block.text, NOTHING if signature is UNSET else {"textSignature": signature})


def _bounded(value: JsonValue, above: int) -> JsonValue:
    """The value, which is `above` levels down in its line. Raises ValueError: it is too deep."""
    if is_value_deeper(value, DEEPEST - above):
        raise ValueError("nested too deep")
    return value
