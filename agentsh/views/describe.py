"""Tool calls, results and entries in one safe line each: what every view shows of them.

Pure; loads nothing heavy, so plain and interactive outputs say the same of the same thing.
Read next: ui/text/plain.py, ui/paper/cards.py.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from agentsh.jsontext import JsonError, JsonValue, dumps_text
from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    CustomRoleMessage,
    Image,
    Message,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UnknownRoleMessage,
    UserMessage,
    called_skill,
    own_details,
    typed_prompt,
)
from agentsh.sanitize import first_line, safe_line
from agentsh.session.format.entries import ReadNotice
from agentsh.shellwords import shell_word

# The argument that says most of a call, by tool; anything else is shown as JSON.
_MAIN = {
    "bash": "command",
    "read": "path",
    "write": "path",
    "edit": "path",
    "grep": "pattern",
    "find": "pattern",
    "ls": "path",
}


def call_subject(call: ToolCall, limit: int = 200) -> str:
    """What a call is about: its command, path or pattern, in one line."""
    main = call.arguments.get(_MAIN.get(call.name, ""))
    if isinstance(main, str):
        extra = _extra(call)
        return safe_line(main, limit) + (f" {extra}" if extra else "")
    if call.raw_arguments is not None:
        return safe_line(call.raw_arguments, limit)
    if not call.arguments:
        return "." if call.name == "ls" else ""
    try:
        return safe_line(dumps_text(call.arguments), limit)
    except JsonError:
        return "(arguments)"


def call_path(call: ToolCall) -> str:
    """The file that it is about, as it was said; "" where there is none."""
    path = call.arguments.get("path")
    return path if isinstance(path, str) else ""


def seen_from(call: ToolCall, folder: str) -> ToolCall:
    """The same to be shown: a path below the folder is said as it is from there."""
    path = call_path(call)
    if not folder or not path.startswith(f"{folder}/"):
        return call
    return replace(call, arguments={**call.arguments, "path": path[len(folder) + 1 :] or "."})


def call_line(call: ToolCall, limit: int = 200) -> str:
    return f"{safe_line(call.name, 60)}: {call_subject(call, limit)}".rstrip(": ")


def result_line(result: ToolResultMessage, limit: int = 200) -> str:
    return first_line(result_text(result), limit) or "(nothing)"


def outcome_words(result: ToolResultMessage) -> str:
    """What came of a call, in a few words. Without a count or a difference it is the first line."""
    if result.is_error:
        return f"failed: {result_line(result)}"
    count = own_member(result, "lines")
    if isinstance(count, int):
        return f"{count} line{'' if count == 1 else 's'}"
    diff = result.details.get("diff") if isinstance(result.details, dict) else None
    if isinstance(diff, str) and diff.strip():
        added, removed = counted(diff)
        return f"+{added} -{removed}"
    return result_line(result)


def counted(diff: str) -> tuple[int, int]:
    """Lines that came, and lines that were taken out."""
    signs = [line[:1] for line in diff.split("\n")]
    return signs.count("+"), signs.count("-")


def result_note(result: ToolResultMessage) -> str | None:
    """What agentsh told the model before a result: `details.ash.note` says that there is such."""
    first = result.content[0] if result.content else None
    if own_member(result, "note") is not True or not isinstance(first, Text):
        return None
    return first.text


def result_text(result: ToolResultMessage) -> str:
    """What the tool gave, without a note of ours."""
    return blocks_text(result.content if result_note(result) is None else result.content[1:])


def own_member(result: ToolResultMessage, name: str) -> JsonValue:
    """A member of what agentsh itself keeps of a result."""
    ours = own_details(result.details)
    return None if ours is None else ours.get(name)


def allow_hint(rule: str) -> str:
    """What allows it the next time; to be shown as it is, in one line (shellwords.py)."""
    if not rule:
        return "run it with --approve all to allow it"
    return f"run it with --allow {shell_word(rule)} or --approve all to allow it"


_FENCE = re.compile(r"^ {0,3}(?:```+|~~~+)[^`\n]*$", re.MULTILINE)
"""What begins or ends a block of code, and says nothing of it."""


def shown_prompt(content: tuple[Text | Image, ...]) -> str:
    """What a person said, as a chat shows it: of a skill that they called its name and length."""
    text = blocks_text(content)
    skill = called_skill(text)
    if skill is None:
        return text
    lines = skill.text.count("\n") + 1
    return f"{skill.typed}\n(the skill's text, {lines} lines)"


def blocks_text(content: tuple[Text | Image, ...]) -> str:
    """User blocks as text; an image as its type."""
    parts = [b.text if isinstance(b, Text) else f"[{b.mime_type} image]" for b in content]
    return "\n".join(parts)


def notice_line(notice: ReadNotice) -> str:
    """What a reader of the file found, with the line where it is."""
    prefix = "" if notice.line is None else f"line {notice.line}: "
    return prefix + safe_line(notice.text)


def message_text(message: Message) -> str:
    """What a message says, whole and raw (not made safe)."""
    match message:
        case UserMessage(content) | CustomRoleMessage(content=content):
            return blocks_text(content)
        case AssistantMessage():
            return message.text
        case ToolResultMessage():
            return blocks_text(message.content)
        case BashExecutionMessage():
            return f"{message.command}\n{message.output}"
        case SystemMessage():
            parts = [message.content, *(text for text in message.sections.values() if text)]
            return "\n".join(part for part in parts if part)
        case UnknownRoleMessage():
            return _unknown_text(message.raw.get("content"))


def assistant_line(message: AssistantMessage, limit: int = 200, folder: str = "") -> str:
    """The first line of an answer; its calls where it has no text; what went wrong otherwise."""
    line = first_line(_FENCE.sub("", message.text[: 16 * limit]), limit)
    if line or (line := first_line(message.text, limit)):
        return line
    if message.tool_calls:
        calls = (call_line(seen_from(call, folder), 80) for call in message.tool_calls)
        return safe_line(" · ".join(calls), limit)
    if message.error_message:
        return safe_line(f"({message.stop_reason}: {message.error_message})", limit)
    thoughts = [b.thinking for b in message.content if isinstance(b, Thinking)]
    if message.stop_reason == "aborted":
        return "(stopped)"
    return first_line(thoughts[0], limit) if thoughts else "(empty)"


def message_line(message: Message, limit: int = 200, folder: str = "") -> str:
    """A message in one line. Paths of calls below the folder are said as they are from there."""
    match message:
        case AssistantMessage():
            return assistant_line(message, limit, folder)
        case BashExecutionMessage():
            return safe_line(f"{'!!' if message.excluded else '!'}{message.command}", limit)
        case ToolResultMessage():
            return result_line(message, limit)
        case UserMessage(content):
            return first_line(typed_prompt(blocks_text(content)), limit)
        case _:
            return first_line(message_text(message), limit)


def _extra(call: ToolCall) -> str:
    """A second argument worth a word."""
    arguments = call.arguments
    path = arguments.get("path")
    if call.name in ("grep", "find") and isinstance(path, str):
        return f"in {safe_line(path, 100)}"
    if call.name == "read" and isinstance(arguments.get("offset"), int):
        return f"from line {arguments['offset']}"
    return ""


def _unknown_text(content: JsonValue) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [b.get("text") for b in content if isinstance(b, dict)]
        return "\n".join(t for t in texts if isinstance(t, str))
    return ""


def compacted_words(before: int, after: int) -> str:
    """What a compaction did to the context, in tokens; one may be of no use."""
    figures = f"{before} → about {after} tokens"
    if after < before:
        return f"compacted: {figures}"
    return f"compacted, which made no room: {figures}; what was summed up was short already"
