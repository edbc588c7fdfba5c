"""Content blocks and usage ↔ JSON, and how members are taken out of a parsed object.

Reading takes what it knows out of the object; whatever is left, or is of an unexpected type, goes
to `extra` under its own name and comes back on writing. Read next: messagecodec.py, codec.py.
"""

from __future__ import annotations

from typing import Final, TypeGuard, assert_never

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import (
    AssistantBlock,
    Cost,
    Image,
    Text,
    Thinking,
    ToolCall,
    ToolCallId,
    Usage,
    UserBlock,
)

# in place of the many empty `extra`s of a long path; nobody writes to an `extra`
NOTHING: Final[JsonObject] = {}
_ASSISTANT_BLOCKS = frozenset({"text", "thinking", "toolCall"})


# --- taking members out of a parsed object; what does not fit stays in it ---


def pop_str(members: JsonObject, key: str, default: str = "") -> str:
    value = members.get(key)
    if isinstance(value, str):
        del members[key]
        return value
    return default


def pop_optional(members: JsonObject, key: str) -> str | None:
    value = members.get(key)
    if isinstance(value, str):
        del members[key]
        return value
    drop_null(members, key)
    return None


def pop_bool(members: JsonObject, key: str, default: bool = False) -> bool:
    value = members.get(key)
    if isinstance(value, bool):
        del members[key]
        return value
    return default


def pop_int(members: JsonObject, key: str) -> int | None:
    value = members.get(key)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        del members[key]
        return value
    drop_null(members, key)
    return None


def drop_null(members: JsonObject, key: str) -> None:
    """Null and absent mean the same."""
    if key in members and members[key] is None:
        del members[key]


def is_object(value: JsonValue) -> TypeGuard[JsonObject]:
    return isinstance(value, dict)


# --- blocks ---


def decode_user_blocks(value: JsonValue) -> tuple[UserBlock, ...]:
    """Blocks from a list, a string (one text) or null (none)."""
    if isinstance(value, str):
        return (Text(value),) if value else ()
    if not isinstance(value, list):
        return ()
    return tuple([_user_block(item) for item in value])


def _user_block(item: JsonValue) -> UserBlock:
    if is_object(item) and item.get("type") == "image":
        data, mime = item.get("data"), item.get("mimeType")
        if isinstance(data, str) and isinstance(mime, str):
            return Image(data, mime)
    return _text_block(item)


def _text_block(item: JsonValue) -> Text:
    if isinstance(item, str):
        return Text(item)
    if not is_object(item):
        return Text("", {"type": "unknown", "value": item})
    text = item.get("text")
    if item.get("type") == "text" and isinstance(text, str):
        if len(item) == 2:
            return Text(text, NOTHING)
        return Text(text, {k: v for k, v in item.items() if k not in {"type", "text"}})
    # a kind of block that we do not know: an empty text for us, itself again on writing
    return Text("", {"type": "unknown", **item})


def decode_assistant_blocks(value: JsonValue) -> tuple[AssistantBlock, ...]:
    if isinstance(value, str):
        return (Text(value),) if value else ()
    if not isinstance(value, list):
        return ()
    return tuple([_assistant_block(item) for item in value])


def decode_any_blocks(value: JsonValue) -> tuple[UserBlock | AssistantBlock, ...]:
    """Blocks of a message whose role is not told here (a context edit)."""
    if not isinstance(value, list):
        return decode_user_blocks(value)
    return tuple(
        _assistant_block(item) if _kind(item) in _ASSISTANT_BLOCKS else _user_block(item)
        for item in value
    )


def _kind(item: JsonValue) -> str:
    """What an object says it is; "" for anything that names no kind."""
    kind = item.get("type") if is_object(item) else None
    return kind if isinstance(kind, str) else ""


def _assistant_block(item: JsonValue) -> AssistantBlock:
    kind = _kind(item)
    if not is_object(item) or kind not in _ASSISTANT_BLOCKS or kind == "text":
        return _text_block(item)
    members = dict(item)
    del members["type"]
    if kind == "thinking":
        return Thinking(
            thinking=pop_str(members, "thinking"),
            signature=pop_optional(members, "thinkingSignature"),
            redacted=pop_bool(members, "redacted"),
            extra=members or NOTHING,
        )
    arguments: JsonObject = {}
    given = members.get("arguments")
    if is_object(given):
        arguments = given
        del members["arguments"]
    elif isinstance(given, str):
        # seen in old files: the text instead of the object; it is kept as raw text, never executed
        members.setdefault("rawArguments", given)
        members.setdefault("argumentsError", "the arguments are text, not an object")
        del members["arguments"]
    return ToolCall(
        id=ToolCallId(pop_str(members, "id")),
        name=pop_str(members, "name"),
        arguments=arguments,
        raw_arguments=pop_optional(members, "rawArguments"),
        arguments_error=pop_optional(members, "argumentsError"),
        extra=members or NOTHING,
    )


def encode_block(block: UserBlock | AssistantBlock) -> JsonObject:
    match block:
        case Text():
            if "type" in block.extra:
                return dict(block.extra)
            return {"type": "text", "text": block.text, **block.extra}
        case Image():
            return {"type": "image", "data": block.data, "mimeType": block.mime_type}
        case Thinking():
            out: JsonObject = {"type": "thinking", "thinking": block.thinking}
            put(out, "thinkingSignature", block.signature)
            put(out, "redacted", block.redacted or None)
            return {**out, **block.extra}
        case ToolCall():
            out = {"type": "toolCall", "id": block.id, "name": block.name}
            out["arguments"] = block.arguments
            put(out, "rawArguments", block.raw_arguments)
            put(out, "argumentsError", block.arguments_error)
            return {**out, **block.extra}
        case _:
            assert_never(block)


def encode_blocks(blocks: tuple[UserBlock | AssistantBlock, ...]) -> list[JsonValue]:
    return [encode_block(block) for block in blocks]


def put(out: JsonObject, key: str, value: JsonValue) -> None:
    if value is not None:
        out[key] = value


# --- usage ---


def _number(value: JsonValue) -> float:
    """A number; an integer of hundreds of digits is none."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return 0.0
    try:
        return float(value)
    except OverflowError:
        return 0.0


def _count(value: JsonValue) -> int:
    return int(value) if isinstance(value, int | float) and abs(value) < 2**63 else 0


def decode_usage(value: JsonValue) -> Usage:
    """Missing numbers are 0; a missing total is the sum."""
    if not is_object(value):
        return Usage()
    get, cost = value.get, value.get("cost")
    read, written = _count(get("cacheRead")), _count(get("cacheWrite"))
    came, went = _count(get("input")), _count(get("output"))
    return Usage(
        input=came,
        output=went,
        cache_read=read,
        cache_write=written,
        total_tokens=_count(get("totalTokens", came + went + read + written)),
        reasoning=_count(get("reasoning")),
        cost=_cost(cost) if is_object(cost) else Cost(),
    )


def _cost(value: JsonObject) -> Cost:
    get = value.get
    return Cost(
        _number(get("input")),
        _number(get("output")),
        _number(get("cacheRead")),
        _number(get("cacheWrite")),
        _number(get("total")),
    )


def encode_usage(usage: Usage) -> JsonObject:
    out: JsonObject = {
        "input": usage.input,
        "output": usage.output,
        "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write,
        "reasoning": usage.reasoning,
        "totalTokens": usage.total_tokens,
    }
    out["cost"] = {
        "input": _plain(usage.cost.input),
        "output": _plain(usage.cost.output),
        "cacheRead": _plain(usage.cost.cache_read),
        "cacheWrite": _plain(usage.cost.cache_write),
        "total": _plain(usage.cost.total),
    }
    return out


def _plain(value: float) -> float | int:
    """JavaScript writes 0, not 0.0: so a line of ours is what Pi would write again."""
    return int(value) if value == int(value) and abs(value) < 2**53 else value
