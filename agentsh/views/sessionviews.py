"""Three of the four readings of a session as values: chat, trace, raw (R03). Pure.

chat   what a person reads: every message of the path, nothing hidden by a compaction
trace  what happened: turns, requests, attempts, tools, repairs, messages with their ends
raw    the lines as they are

Each is one fold over entries. Programs get the values as they are (remote/values/views.py); people
get lines made of them (ui/text/views.py). The fourth reading is what a model is sent:
remote/values/modelview.py. Read next: treeitem.py, describe.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agentsh.jsontext import JsonError, JsonObject, JsonValue, loads_object
from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    Message,
    SystemMessage,
    Thinking,
    ToolCall,
    ToolResultMessage,
    Usage,
)
from agentsh.session.format.entries import (
    BranchSummary,
    Compaction,
    Custom,
    CustomMessage,
    Damaged,
    Entry,
    MessageBody,
    ModelChange,
    ThinkingLevelChange,
    Unknown,
)
from agentsh.session.format.factcodec import PREFIX
from agentsh.views.describe import blocks_text, message_text, own_member
from agentsh.views.treeitem import item_of, role_of


def chat_view(entries: Iterable[Entry]) -> list[JsonValue]:
    """`{"entry", "role", "text"}` of each message of a path, in order."""
    shown: list[JsonValue] = []
    for entry in entries:
        match entry.body:
            case MessageBody(SystemMessage()):
                continue
            case MessageBody(message):
                shown.append({"entry": entry.id, **_said(message)})
            case CustomMessage(_, content, display) if display:
                shown.append({"entry": entry.id, "role": "custom", "text": blocks_text(content)})
            case Compaction(summary=summary):
                shown.append({"entry": entry.id, "role": "compaction", "text": summary})
            case BranchSummary(summary=summary):
                shown.append({"entry": entry.id, "role": "branch_summary", "text": summary})
            case Damaged(reason):
                shown.append({"entry": entry.id, "role": "damaged", "text": reason})
            case _:
                continue
    return shown


def trace_view(entries: Iterable[Entry]) -> list[JsonValue]:
    """`{"entry", "type", …}` of everything on a path, what a crash cut off included."""
    return [trace_event(entry) for entry in entries]


def raw_view(lines: Iterable[bytes]) -> Iterator[JsonObject]:
    """Each line as parsed; what does not parse is left out (`verify` names it)."""
    for line in lines:
        try:
            yield loads_object(line)
        except JsonError:
            continue


def usage_json(usage: Usage) -> JsonObject:
    return {
        "input": usage.input,
        "output": usage.output,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        "reasoning": usage.reasoning,
        "total_tokens": usage.total_tokens,
    }


def _said(message: Message) -> JsonObject:
    value: JsonObject = {"role": role_of(message), "text": message_text(message)}
    match message:
        case AssistantMessage():
            if message.tool_calls:
                value["calls"] = [_call(call) for call in message.tool_calls]
            if message.stop_reason in ("error", "aborted", "length"):
                value["stop_reason"] = message.stop_reason
            if message.error_message:
                value["error"] = message.error_message
        case ToolResultMessage(call, name, _, is_error):
            value |= {"call": call, "tool": name, "is_error": is_error}
        case BashExecutionMessage():
            value |= {"exit_code": message.exit_code, "excluded": message.excluded}
        case _:
            pass
    return value


def _call(call: ToolCall) -> JsonObject:
    return {"id": call.id, "name": call.name, "arguments": call.arguments}


def trace_event(entry: Entry) -> JsonObject:
    """One entry of the trace."""
    value: JsonObject
    match entry.body:
        case MessageBody(message):
            value = _message_event(message)
        case Custom(custom_type, data) if custom_type.startswith(PREFIX):
            value = _fact_event(custom_type.removeprefix(PREFIX), data)
        case Custom(custom_type, data):
            value = {"type": "custom", "custom_type": custom_type, "data": data}
        case ModelChange(provider, model):
            value = {"type": "model_change", "provider": provider, "model": model}
        case ThinkingLevelChange(level):
            value = {"type": "thinking_level_change", "level": level}
        case Compaction(summary, first_kept, before):
            value = {"type": "compaction", "text": summary, "first_kept": first_kept}
            value["tokens_before"] = before
        case BranchSummary(summary, from_id):
            value = {"type": "branch_summary", "text": summary, "from": from_id}
        case Unknown(kind, raw):
            value = {"type": kind, "raw": raw}
        case _:
            item = item_of(entry, None)
            value = {"type": item.type, "text": item.whole}
    return {"entry": entry.id, "type": value["type"], "time": entry.time, **value}


def _message_event(message: Message) -> JsonObject:
    value: JsonObject = {"type": role_of(message), "text": message_text(message)}
    match message:
        case AssistantMessage():
            thoughts = [b.thinking for b in message.content if isinstance(b, Thinking)]
            return value | {
                "model": message.model,
                "thinking": "\n".join(thoughts),
                "calls": [_call(call) for call in message.tool_calls],
                "stop_reason": message.stop_reason,
                "error": message.error_message,
                "usage": usage_json(message.usage),
            }
        case ToolResultMessage(call, name, _, is_error):
            value |= {"type": "tool_result", "call": call, "tool": name, "is_error": is_error}
            return value if (tx := _transaction(message)) is None else value | {"tx": tx}
        case BashExecutionMessage():
            return value | {"type": "shell", "exit_code": message.exit_code}
        case _:
            return value


def _transaction(message: ToolResultMessage) -> JsonValue:
    """What a tool calls the thing that it did elsewhere: details.ash.tx (R60)."""
    return own_member(message, "tx")


def _fact_event(family: str, data: JsonValue) -> JsonObject:
    """`agentsh.turn` {ev: start} → `turn_start`, with the fact's own members."""
    members = dict(data) if isinstance(data, dict) else {"data": data}
    event = members.pop("ev", None)
    kind = f"{family}_{event}" if isinstance(event, str) else family
    return {"type": kind, **{k: v for k, v in members.items() if k not in ("entry", "type")}}
