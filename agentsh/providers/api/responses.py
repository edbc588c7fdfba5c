"""Request → body of the Responses API, sans-IO.

Used where an endpoint offers only it, or the user asks for it (`api = "responses"`). Stateless:
`store` is false and the whole conversation goes out each time, so that a request can be rebuilt
from the log. A reasoning item is kept whole, as JSON, in its Thinking block's signature, and goes
back to the model that gave it, before the call that followed it. A call's id is `call_id|item id`,
as Pi writes it; only the call_id pairs it with its result. The other API is chat.py and
assemble.py.
"""

from __future__ import annotations

from agentsh.jsontext import (
    JsonError,
    JsonObject,
    JsonValue,
    dumps,
    dumps_text,
    loads_object,
)
from agentsh.messages import (
    AssistantMessage,
    Image,
    SentMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserBlock,
    UserMessage,
)
from agentsh.providers.api.chat import IMAGE_LEFT_OUT, SCHEMA_NAME
from agentsh.providers.api.thinking import effort
from agentsh.providers.base import (
    RESPONSES,
    Request,
)


def encode_responses(request: Request) -> bytes:
    """The exact bytes to send. Pure."""
    shape = request.shape
    items: list[JsonValue] = []
    for message in request.messages:
        items.extend(_items(message, request))
    body: JsonObject = {"model": request.model}
    if request.system:
        body["instructions"] = request.system
    body["input"] = items
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": t.name,
                "description": t.description,
                "parameters": t.parameters,
                "strict": False,
            }
            for t in request.tools
        ]
    body["stream"] = True
    body["store"] = False
    if request.max_tokens is not None:
        body["max_output_tokens"] = request.max_tokens
    if shape.reasoning_effort:
        if request.thinking != "off":
            level = effort(request.model, request.thinking)
            body["reasoning"] = {"effort": level, "summary": "auto"}
        body["include"] = ["reasoning.encrypted_content"]
    if request.schema is not None and shape.response_format:
        form: JsonObject = {"type": "json_schema", "name": SCHEMA_NAME, "strict": False}
        body["text"] = {"format": {**form, "schema": request.schema}}
    body.update(shape.extra_body)
    return dumps(body, sound={"input"} - shape.extra_body.keys())


def _items(message: SentMessage, request: Request) -> list[JsonObject]:
    images = request.shape.accepts_images
    match message:
        case UserMessage():
            content = [_part(b, images=images) for b in message.content]
            return [{"role": "user", "content": content}]
        case AssistantMessage():
            return _assistant_items(message, request)
        case ToolResultMessage():
            return _result_items(message, images=images)


def _part(block: UserBlock, *, images: bool) -> JsonObject:
    match block:
        case Text():
            return {"type": "input_text", "text": block.text}
        case Image() if images:
            url = f"data:{block.mime_type};base64,{block.data}"
            return {"type": "input_image", "detail": "auto", "image_url": url}
        case Image():
            return {"type": "input_text", "text": IMAGE_LEFT_OUT}


def _assistant_items(message: AssistantMessage, request: Request) -> list[JsonObject]:
    items: list[JsonObject] = []
    for block in message.content:
        match block:
            case Thinking():
                if (item := _reasoning_item(block, message, request)) is not None:
                    items.append(item)
            case Text():
                if block.text:
                    part: JsonObject = {"type": "output_text", "text": block.text}
                    items.append({"type": "message", "role": "assistant", "content": [part]})
            case ToolCall():
                items.append(_call_item(block))
    return items


def _reasoning_item(
    block: Thinking, message: AssistantMessage, request: Request
) -> JsonObject | None:
    if block.signature is None or request.shape.reasoning_echo == "never":
        return None
    if message.api != RESPONSES or message.model != request.model:
        return None
    try:
        item = loads_object(block.signature)
    except JsonError:
        return None
    if item.get("type") != "reasoning":
        return None
    # nothing is stored at the server, so an item without its content would not be found there
    if not (item.get("encrypted_content") or item.get("content")):
        return None
    # OpenAI refuses an empty id; without any it takes the item
    return item if item.get("id") else {k: v for k, v in item.items() if k != "id"}


def split_id(call_id: str) -> tuple[str, str]:
    """(call_id, item id) of a stored id; the item id is "" where there was none."""
    first, _, second = call_id.partition("|")
    return first, second


def _call_item(call: ToolCall) -> JsonObject:
    # without its item id: with it, OpenAI wants the reasoning that came before, which another
    # model's turn or an abort may have taken away
    call_id, _ = split_id(call.id)
    arguments = "{}" if call.arguments_error else dumps_text(call.arguments)
    return {
        "type": "function_call",
        "call_id": call_id,
        "name": call.name,
        "arguments": arguments,
    }


def _result_items(message: ToolResultMessage, *, images: bool) -> list[JsonObject]:
    call_id, _ = split_id(message.tool_call_id)
    text = "\n".join(b.text for b in message.content if isinstance(b, Text))
    pictures = [b for b in message.content if isinstance(b, Image)]
    output: JsonValue = text
    if pictures:
        output = [_part(b, images=images) for b in message.content]
    return [{"type": "function_call_output", "call_id": call_id, "output": output}]
