"""Three of the four readings of a session as lines for people: chat, trace, raw. Pure.

What they are made of is views/sessionviews.py's; here it becomes text that is safe to show.
Read next: cli/commands/show.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from agentsh.jsontext import JsonObject, JsonValue, dumps_text
from agentsh.messages import ToolCall, ToolCallId
from agentsh.sanitize import safe_line, safe_text
from agentsh.session.format.entries import Entry
from agentsh.views.describe import call_line
from agentsh.views.sessionviews import chat_view, trace_event
from agentsh.views.treeitem import item_of

_BRIEF: Final = 4
"""Lines of a result where the rest is elsewhere."""


def chat_lines(entries: Iterable[Entry], *, brief: bool = False) -> Iterator[str]:
    """The chat for people: a mark for who speaks, an empty line between.

    `brief`: of a call what it is about, of a result the first lines.
    """
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
            text = _beginning(text) if brief and role == "toolResult" else text
        elif role == "assistant" and isinstance(item.get("calls"), list):
            text = "\n".join(part for part in (text, *_call_lines(item, brief=brief)) if part)
        mark = marks.get(role, "")
        yield from (mark + line for line in text.split("\n"))


def trace_lines(entries: Iterable[Entry]) -> Iterator[str]:
    """The trace for people: one line an event."""
    for entry in entries:
        item = item_of(entry, None)
        value = trace_event(entry)
        kind = str(value["type"])
        members = {k: v for k, v in value.items() if k not in ("entry", "type", "time", "text")}
        said = item.text if kind in ("user", "assistant", "tool_result") else ""
        fields = " ".join(
            f"{k}={_short(v)}" for k, v in members.items() if v not in (None, "", [], {})
        )
        yield safe_line(f"{entry.time} {entry.id} {kind} {said} {fields}", 400)


def raw_lines(lines: Iterable[bytes]) -> Iterator[str]:
    """The lines for people: as they are, made safe."""
    for line in lines:
        yield safe_text(line.decode("utf-8", "replace")).replace("\n", "␊")


def _title(item: JsonObject) -> str:
    tool = item.get("tool")
    title = safe_line(str(tool), 60) if isinstance(tool, str) else str(item["role"])
    return f"{title}, failed" if item.get("is_error") is True else title


def _call_lines(item: JsonObject, *, brief: bool) -> Iterator[str]:
    calls = item.get("calls")
    for call in calls if isinstance(calls, list) else ():
        if not isinstance(call, dict):
            continue
        name, arguments = str(call["name"]), call.get("arguments")
        if brief and isinstance(arguments, dict):
            yield f"* {call_line(ToolCall(ToolCallId(''), name, arguments), 120)}"
        else:
            yield f"* {safe_line(name, 60)} {_short(arguments)}"


def _beginning(text: str) -> str:
    first, rest = text.split("\n")[:_BRIEF], text.count("\n") + 1 - _BRIEF
    return text if rest <= 1 else "\n".join([*first, f"… {rest} lines"])


def _short(value: JsonValue) -> str:
    if isinstance(value, str):
        return safe_line(value, 120)
    return safe_line(dumps_text(value), 120)
