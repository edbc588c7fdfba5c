"""Request → body of a chat completion, sans-IO: the one place that spells these wire names.

Invariants: pure, and byte for byte the same for the same Request (R33); each body begins with the
one before it, as long as the messages do (prompt caches). Conservative (E24-E26): `content` is a
string wherever it can be, never null; no empty `tools`; no field that nobody asked for. Arguments
are written from the parsed object, compactly, since that is what the log holds; those that did not
parse go out as {} (S40). The shape (dialects.py) decides what differs between servers. The way in
is assemble.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agentsh.jsontext import JsonObject, JsonValue, dumps, dumps_text
from agentsh.messages import (
    AssistantMessage,
    Image,
    SentMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    ToolSchema,
    UserBlock,
    UserMessage,
)
from agentsh.providers.api.reasoning import echoed
from agentsh.providers.api.thinking import thinking_members
from agentsh.providers.base import Request, Shape

SCHEMA_NAME: Final = "answer"
RESULTS_SEEN: Final = "I have seen the results."
IMAGES_FOLLOW: Final = "(see the image below)"
IMAGES_OF_RESULTS: Final = "Images from the tool results above:"
IMAGE_LEFT_OUT: Final = "(an image, which this model cannot see)"


def encode_chat(request: Request) -> bytes:
    """The exact bytes to send."""
    return dumps(body_members(request), sound={"messages"} - request.shape.extra_body.keys())


def body_members(request: Request) -> JsonObject:
    shape = request.shape
    body: JsonObject = {"model": request.model, "messages": wire_messages(request)}
    if request.tools:
        body["tools"] = [_tool(t) for t in request.tools]
    elif shape.tools_with_calls and any(map(_is_call, request.messages)):
        body["tools"] = []
    body["stream"] = True
    if shape.stream_usage:
        body["stream_options"] = {"include_usage": True}
    if request.max_tokens is not None:
        body[shape.token_field] = request.max_tokens
    body.update(thinking_members(request))
    if request.schema is not None and shape.response_format:
        named: JsonObject = {"name": SCHEMA_NAME, "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    body.update(shape.extra_body)
    return body


def _is_call(message: SentMessage) -> bool:
    return isinstance(message, AssistantMessage) and bool(message.tool_calls)


def wire_messages(request: Request) -> list[JsonObject]:
    """The messages as they go out, system message first; also what `show --view model` prints."""
    shape = request.shape
    messages: list[JsonObject] = []
    if request.system:
        messages.append({"role": shape.system_role, "content": request.system})
    pending: list[Image] = []
    for message in request.messages:
        if pending and not isinstance(message, ToolResultMessage):
            messages.append(_images_of_results(pending))
            pending = []
        messages.append(_message(message, shape, pending))
    if pending:
        messages.append(_images_of_results(pending))
    return _ordered(messages, shape)


def _message(message: SentMessage, shape: Shape, pending: list[Image]) -> JsonObject:
    match message:
        case UserMessage():
            return {"role": "user", "content": _user_content(message.content, shape)}
        case AssistantMessage():
            return _assistant(message, shape)
        case ToolResultMessage():
            return _tool_result(message, shape, pending)


def _user_content(blocks: Sequence[UserBlock], shape: Shape) -> JsonValue:
    if len(blocks) == 1 and isinstance(only := blocks[0], Text):
        return only.text
    if not any(isinstance(b, Image) for b in blocks):
        return "\n".join(b.text for b in blocks if isinstance(b, Text))
    if not shape.accepts_images:
        return "\n".join(b.text if isinstance(b, Text) else IMAGE_LEFT_OUT for b in blocks)
    return [_part(b) for b in blocks]


def _part(block: UserBlock) -> JsonObject:
    match block:
        case Text():
            return {"type": "text", "text": block.text}
        case Image():
            url = f"data:{block.mime_type};base64,{block.data}"
            return {"type": "image_url", "image_url": {"url": url}}


def _assistant(message: AssistantMessage, shape: Shape) -> JsonObject:
    said: list[str] = []
    calls: list[JsonObject] = []
    thought = False
    for block in message.content:
        match block:
            case Text():
                said.append(block.text)
            case ToolCall():
                calls.append(_call(block))
            case Thinking():
                thought = True
    wire: JsonObject = {"role": "assistant", "content": "".join(said)}
    if thought:
        wire.update(echoed(message, shape.reasoning_echo))
    if calls:
        wire["tool_calls"] = calls
    return wire


def _call(call: ToolCall) -> JsonObject:
    arguments = "{}" if call.arguments_error else dumps_text(call.arguments)
    function: JsonObject = {"name": call.name, "arguments": arguments}
    if not call.extra:
        return {"id": call.id, "type": "function", "function": function}
    return {"id": call.id, "type": "function", "function": function, **call.extra}


def _tool_result(message: ToolResultMessage, shape: Shape, pending: list[Image]) -> JsonObject:
    if len(message.content) == 1 and isinstance(only := message.content[0], Text):
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": only.text}
    images = [b for b in message.content if isinstance(b, Image)]
    text = "\n".join(b.text for b in message.content if isinstance(b, Text))
    if images and shape.accepts_images:
        pending.extend(images)
        text = f"{text}\n{IMAGES_FOLLOW}" if text else IMAGES_FOLLOW
    elif images:
        text = "\n".join([text, *[IMAGE_LEFT_OUT] * len(images)] if text else [IMAGE_LEFT_OUT])
    return {"role": "tool", "tool_call_id": message.tool_call_id, "content": text}


def _images_of_results(images: list[Image]) -> JsonObject:
    """Tool results take no images (E26): they follow as a user's, after the run of results."""
    parts = [_part(Text(IMAGES_OF_RESULTS)), *[_part(i) for i in images]]
    return {"role": "user", "content": parts}


def _tool(tool: ToolSchema) -> JsonObject:
    function: JsonObject = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        **tool.extra,
    }
    return {"type": "function", "function": function}


# ---- strict orders ---------------------------------------------------------------------------


def _ordered(messages: list[JsonObject], shape: Shape) -> list[JsonObject]:
    """Join neighbouring user messages, bridge from results to a user, where the shape says so."""
    if not (shape.merge_users or shape.bridge_after_tool):
        return messages
    out: list[JsonObject] = []
    for message in messages:
        before = out[-1]["role"] if out else None
        if message["role"] == "user":
            if before == "tool" and shape.bridge_after_tool:
                out.append({"role": "assistant", "content": RESULTS_SEEN})
            elif before == "user" and shape.merge_users:
                out[-1] = _joined(out[-1], message)
                continue
        out.append(message)
    return out


def _joined(first: JsonObject, second: JsonObject) -> JsonObject:
    one, two = first["content"], second["content"]
    if isinstance(one, str) and isinstance(two, str):
        return {"role": "user", "content": f"{one}\n\n{two}"}
    return {"role": "user", "content": [*_parts(one), *_parts(two)]}


def _parts(content: JsonValue) -> list[JsonValue]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content) if isinstance(content, Sequence) else []
