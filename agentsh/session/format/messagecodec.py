"""Messages ↔ JSON objects, as Pi stores them (docs/session-format.md). Lenient in, strict out.

Nothing that can be parsed raises: missing members get defaults, unknown ones survive in `extra`, an
unknown role is kept as it is. Persisted names are spelled in the codecs and nowhere else. Pure.
"""

from __future__ import annotations

from typing import assert_never, get_args

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    CustomRoleMessage,
    Message,
    StopReason,
    SystemMessage,
    Text,
    ToolCallId,
    ToolResultMessage,
    ToolSchema,
    UnknownRoleMessage,
    UserBlock,
    UserMessage,
)
from agentsh.session.format.blockcodec import (
    NOTHING,
    decode_assistant_blocks,
    decode_usage,
    decode_user_blocks,
    encode_blocks,
    encode_usage,
    is_object,
    pop_bool,
    pop_int,
    pop_optional,
    pop_str,
    put,
)

_STOP_REASONS: dict[str, StopReason] = {each: each for each in get_args(StopReason)}
_ROLES = frozenset({"user", "assistant", "toolResult", "system", "bashExecution", "custom"})


def decode_message(value: JsonObject) -> Message:
    """Takes the object over: what is left in it is what was not understood."""
    role = value.get("role")
    if not isinstance(role, str):
        return UnknownRoleMessage("", value)
    if role not in _ROLES:
        return UnknownRoleMessage(role, value)
    del value["role"]
    return _decode_role(role, value)


def _decode_role(role: JsonValue, members: JsonObject) -> Message:
    match role:
        case "user":
            return UserMessage(
                content=_pop_user_content(members),
                timestamp=_pop_time(members),
                extra=members or NOTHING,
            )
        case "assistant":
            return _decode_assistant(members)
        case "toolResult":
            return ToolResultMessage(
                tool_call_id=ToolCallId(pop_str(members, "toolCallId")),
                tool_name=pop_str(members, "toolName"),
                content=_pop_user_content(members),
                is_error=pop_bool(members, "isError"),
                details=members.pop("details", None),
                timestamp=_pop_time(members),
                duration_ms=pop_int(members, "durationMs"),
                extra=members or NOTHING,
            )
        case "system":
            return decode_system(members)
        case "bashExecution":
            return _decode_bash(members)
        case "custom":
            return CustomRoleMessage(
                custom_type=pop_str(members, "customType"),
                content=_pop_user_content(members),
                display=pop_bool(members, "display", True),
                details=members.pop("details", None),
                timestamp=_pop_time(members),
                extra=members or NOTHING,
            )
        case _:
            raise AssertionError(role)


def is_private(value: JsonObject) -> bool:
    """Whether a line is a command that the person ran for themself only (`!!command`)."""
    message = value.get("message")
    return (
        value.get("type") == "message"
        and isinstance(message, dict)
        and message.get("role") == "bashExecution"
        and message.get("excludeFromContext") is True
    )


def _decode_bash(members: JsonObject) -> BashExecutionMessage:
    return BashExecutionMessage(
        command=pop_str(members, "command"),
        output=pop_str(members, "output"),
        exit_code=pop_int(members, "exitCode"),
        cancelled=pop_bool(members, "cancelled"),
        truncated=pop_bool(members, "truncated"),
        full_output_path=pop_optional(members, "fullOutputPath"),
        excluded=pop_bool(members, "excludeFromContext"),
        timestamp=_pop_time(members),
        extra=members or NOTHING,
    )


def _pop_user_content(members: JsonObject) -> tuple[UserBlock, ...]:
    return decode_user_blocks(members.pop("content", None))


def _pop_time(members: JsonObject) -> int:
    return pop_int(members, "timestamp") or 0


def _decode_assistant(members: JsonObject) -> AssistantMessage:
    given = members.get("stopReason")
    stop = _STOP_REASONS.get(given) if isinstance(given, str) else None
    if stop is not None:
        del members["stopReason"]
    return AssistantMessage(
        content=decode_assistant_blocks(members.pop("content", None)),
        api=pop_str(members, "api"),
        provider=pop_str(members, "provider"),
        model=pop_str(members, "model"),
        usage=decode_usage(members.pop("usage", None)),
        stop_reason=stop or "stop",
        timestamp=_pop_time(members),
        error_message=pop_optional(members, "errorMessage"),
        response_id=pop_optional(members, "responseId"),
        raw_stop_reason=pop_optional(members, "rawStopReason"),
        thinking_level=pop_optional(members, "thinkingLevel"),
        duration_ms=pop_int(members, "durationMs"),
        first_ms=pop_int(members, "firstMs"),
        chunks=pop_int(members, "chunks"),
        extra=members or NOTHING,
    )


def decode_system(value: JsonObject) -> SystemMessage:
    """A `system` message, also in its place inside a compaction. Takes the object over."""
    members = value
    members.pop("role", None)
    content = members.pop("content", None)
    blocks = decode_user_blocks(content)
    sections: dict[str, str | None] = {}
    given = members.get("sections")
    if is_object(given) and all(v is None or isinstance(v, str) for v in given.values()):
        sections = {k: v for k, v in given.items() if v is None or isinstance(v, str)}
        del members["sections"]
    added = members.pop("toolsAdded", None)
    removed = members.pop("toolsRemoved", None)
    return SystemMessage(
        content="".join(b.text for b in blocks if isinstance(b, Text)),
        sections=sections,
        tools_added=_tool_schemas(added),
        tools_removed=_tool_names(removed),
        timestamp=_pop_time(members),
        extra=members or NOTHING,
    )


def _tool_schemas(value: JsonValue) -> tuple[ToolSchema, ...]:
    schemas: list[ToolSchema] = []
    for item in value if isinstance(value, list) else ():
        if not is_object(item):
            continue
        members = dict(item)
        parameters = members.pop("parameters", None)
        schemas.append(
            ToolSchema(
                name=pop_str(members, "name"),
                description=pop_str(members, "description"),
                parameters=parameters if is_object(parameters) else {},
                extra=members or NOTHING,
            )
        )
    return tuple(schemas)


def _tool_names(value: JsonValue) -> tuple[str, ...]:
    names = [
        item.get("name") if is_object(item) else item
        for item in (value if isinstance(value, list) else ())
    ]
    return tuple(name for name in names if isinstance(name, str))


def encode_message(message: Message) -> JsonObject:
    match message:
        case UserMessage():
            out = _said("user", encode_blocks(message.content))
        case AssistantMessage():
            return _encode_assistant(message)
        case ToolResultMessage():
            out = {
                "role": "toolResult",
                "toolCallId": message.tool_call_id,
                "toolName": message.tool_name,
                "content": encode_blocks(message.content),
            }
            put(out, "details", message.details)
            out["isError"] = message.is_error
            put(out, "durationMs", message.duration_ms)
        case SystemMessage():
            out = _said("system", message.content)
            if message.sections:
                out["sections"] = dict(message.sections)
            out["timestamp"] = message.timestamp
            _put_tools(out, message)
        case BashExecutionMessage():
            out = _encode_bash(message)
        case CustomRoleMessage():
            out = {"role": "custom", "customType": message.custom_type}
            out["content"] = encode_blocks(message.content)
            out["display"] = message.display
            put(out, "details", message.details)
        case UnknownRoleMessage():
            return message.raw
        case _:
            assert_never(message)
    out.setdefault("timestamp", message.timestamp)
    return {**out, **message.extra}


def _encode_bash(message: BashExecutionMessage) -> JsonObject:
    out: JsonObject = {
        "role": "bashExecution",
        "command": message.command,
        "output": message.output,
    }
    put(out, "exitCode", message.exit_code)
    out["cancelled"] = message.cancelled
    out["truncated"] = message.truncated
    put(out, "fullOutputPath", message.full_output_path)
    out["timestamp"] = message.timestamp
    put(out, "excludeFromContext", message.excluded or None)
    return out


def _said(role: str, content: JsonValue) -> JsonObject:
    return {"role": role, "content": content}


def _put_tools(out: JsonObject, message: SystemMessage) -> None:
    if message.tools_added:
        out["toolsAdded"] = [
            {"name": t.name, "description": t.description, "parameters": t.parameters, **t.extra}
            for t in message.tools_added
        ]
    if message.tools_removed:
        out["toolsRemoved"] = [{"name": name} for name in message.tools_removed]


def _encode_assistant(message: AssistantMessage) -> JsonObject:
    out: JsonObject = {
        "role": "assistant",
        "content": encode_blocks(message.content),
        "api": message.api,
        "provider": message.provider,
        "model": message.model,
        "usage": encode_usage(message.usage),
        "stopReason": message.stop_reason,
        "timestamp": message.timestamp,
    }
    put(out, "responseId", message.response_id)
    put(out, "errorMessage", message.error_message)
    put(out, "rawStopReason", message.raw_stop_reason)
    put(out, "durationMs", message.duration_ms)
    put(out, "firstMs", message.first_ms)
    put(out, "chunks", message.chunks)
    put(out, "thinkingLevel", message.thinking_level)
    return {**out, **message.extra}
