"""The lines that make up nearly all of a file, in one pass of C: messages and `custom` entries.

A line whose members are all known and of the usual types is decoded into the private types below
and from them into an entry. Anything else (an unknown member, null where a number stands, a lone
surrogate, what is no JSON) yields None, and codec.py reads it leniently; both ways give equal
entries, which a property checks. It also never rounds an integer. Read next: codec.py.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec.json import Decoder

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
from agentsh.session.blockcodec import NOTHING
from agentsh.session.entries import Custom, Entry, EntryId, MessageBody, Stamp

# the lenient reader takes a larger count for none
_Count = Annotated[int, Meta(gt=-(2**63), le=2**63 - 1)]


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
    total_from_provider: Any = None


class _Usage(Struct, frozen=True, rename="camel", forbid_unknown_fields=True, gc=False):
    input: _Count
    output: _Count
    cache_read: _Count
    cache_write: _Count
    cost: _Cost
    total_tokens: _Count | UnsetType = UNSET
    reasoning: _Count = 0
    cache_write_1h: Any = field(default=None, name="cacheWrite1h")


class _Text(_Shape, frozen=True, tag="text"):
    text: str
    text_signature: Any = UNSET


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


class _MessageLine(_Shape, frozen=True, tag="message"):
    id: EntryId
    parent_id: EntryId | None
    timestamp: str
    message: _User | _Assistant | _ToolResult
    ash: _Ash | UnsetType = UNSET


class _CustomLine(_Shape, frozen=True, tag="custom"):
    id: EntryId
    parent_id: EntryId | None
    timestamp: str
    custom_type: str
    data: Any = None
    ash: _Ash | UnsetType = UNSET


_DECODE: Final = Decoder(_MessageLine | _CustomLine).decode


def decode_usual_line(data: bytes) -> Entry | None:
    """The entry of a line of the usual shape; None: it has to be read leniently."""
    try:
        line = _DECODE(data)
    except (ValueError, RecursionError):
        return None
    if not line.id:
        return None
    ash = line.ash
    return Entry(
        line.id,
        line.parent_id,
        line.timestamp,
        MessageBody(_message(line.message))
        if isinstance(line, _MessageLine)
        else Custom(line.custom_type, line.data),
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
        said.details,
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
            block.arguments,
            block.raw_arguments,
            block.arguments_error,
            NOTHING,
        )
    return Thinking(block.thinking, block.thinking_signature, block.redacted, NOTHING)


def _text(block: _Text) -> Text:
    signature = block.text_signature
    return Text(block.text, NOTHING if signature is UNSET else {"textSignature": signature})
