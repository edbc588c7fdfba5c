"""Three of the four projections of a session that `show` gives: chat, trace, raw. Pure.

chat   what a person reads: every message of the path, nothing hidden by a compaction
trace  what happened: turns, requests, attempts, tools, repairs, messages with their ends
raw    the lines as they are

Each is one fold over the path's entries, as JSON values; `*_lines` say the same for people, made
safe. (The fourth, model, is the context's own: context/outbound.py.) Read next: cli/show.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agentsh.jsontext import JsonError, JsonObject, JsonValue, dumps_text, loads_object
from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    Message,
    SystemMessage,
    Thinking,
    ToolCall,
    ToolResultMessage,
)
from agentsh.session.entries import (
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
from agentsh.ui.describe import blocks_text, message_text, own_member
from agentsh.ui.jsonl import usage_json
from agentsh.ui.sanitize import safe_line, safe_text
from agentsh.ui.treeitem import item_of, role_of

OWN = "agentsh."


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
    return [_event(entry) for entry in entries]


def raw_view(lines: Iterable[bytes]) -> Iterator[JsonObject]:
    """Each line as parsed; what does not parse is left out (`verify` names it)."""
    for line in lines:
        try:
            yield loads_object(line)
        except JsonError:
            continue


def chat_lines(entries: Iterable[Entry]) -> Iterator[str]:
    """The chat for people: a mark for who speaks, an empty line between."""
    marks = {"user": "> ", "bashExecution": "! "}
    first = True
    for item in chat_view(entries):
        assert isinstance(item, dict)
        if not first:
            yield ""
        first = False
        role, text = str(item["role"]), safe_text(str(item["text"]))
        if role in ("toolResult", "compaction", "branch_summary", "custom", "damaged"):
            yield f"[{_title(item)}]"
        elif role == "assistant" and isinstance(item.get("calls"), list):
            text = "\n".join(part for part in (text, *_call_lines(item)) if part)
        mark = marks.get(role, "")
        yield from (mark + line for line in text.split("\n"))


def trace_lines(entries: Iterable[Entry]) -> Iterator[str]:
    """The trace for people: one line an event."""
    for entry in entries:
        item = item_of(entry, None)
        value = _event(entry)
        kind = str(value["type"])
        rest = {k: v for k, v in value.items() if k not in ("entry", "type", "time", "text")}
        told = item.text if kind in ("user", "assistant", "tool_result") else ""
        words = " ".join(f"{k}={_short(v)}" for k, v in rest.items() if v not in (None, "", [], {}))
        yield safe_line(f"{entry.time} {entry.id} {kind} {told} {words}", 400)


def raw_lines(lines: Iterable[bytes]) -> Iterator[str]:
    """The lines for people: as they are, made safe."""
    for line in lines:
        yield safe_text(line.decode("utf-8", "replace")).replace("\n", "␊")


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


def _event(entry: Entry) -> JsonObject:
    value: JsonObject
    match entry.body:
        case MessageBody(message):
            value = _message_event(message)
        case Custom(custom_type, data) if custom_type.startswith(OWN):
            value = _fact_event(custom_type.removeprefix(OWN), data)
        case Custom(custom_type, data):
            value = {"type": "custom", "custom_type": custom_type, "data": data}
        case ModelChange(provider, model):
            value = {"type": "model_change", "provider": provider, "model": model}
        case ThinkingLevelChange(level):
            value = {"type": "thinking_level_change", "level": level}
        case Compaction(summary, kept, before):
            value = {"type": "compaction", "text": summary, "first_kept": kept}
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


def _title(item: JsonObject) -> str:
    tool = item.get("tool")
    words = safe_line(str(tool), 60) if isinstance(tool, str) else str(item["role"])
    return f"{words}, failed" if item.get("is_error") is True else words


def _call_lines(item: JsonObject) -> list[str]:
    calls = item.get("calls")
    return [
        f"* {safe_line(str(call['name']), 60)} {_short(call.get('arguments'))}"
        for call in (calls if isinstance(calls, list) else ())
        if isinstance(call, dict)
    ]


def _short(value: JsonValue) -> str:
    if isinstance(value, str):
        return safe_line(value, 120)
    return safe_line(dumps_text(value), 120)
