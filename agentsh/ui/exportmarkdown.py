"""A session's path as Markdown for people. Pure; loads nothing heavy.

What was said keeps its Markdown, but raw HTML, remote images and script links in it are made inert
(X04), and a fence that was left open is closed. What tools printed stands in a fence that nothing
in it can end. Read next: document.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentsh.jsontext import dumps_text
from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    Image,
    Message,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserBlock,
    UserMessage,
)
from agentsh.session.entries import (
    BranchSummary,
    Compaction,
    CustomMessage,
    Entry,
    MessageBody,
    ModelChange,
)
from agentsh.ui.describe import blocks_text, message_text
from agentsh.ui.document import Document, Pairs, pair
from agentsh.ui.sanitize import safe_line, safe_text

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_CODE_SPAN = re.compile(r"(?<![\\`])(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
# a target with a scheme of its own, spelled out or by character references, but for the web's
_LINK = re.compile(r"\](?=\(\s*<?(?!https?://|mailto:)[^)\s]*[:&])", re.IGNORECASE)
_REFERENCE = re.compile(r"^(\s*)\[(?=[^\]]*\]:)", re.MULTILINE)


def render_markdown(document: Document) -> Iterator[str]:
    """Pieces of the file."""
    yield f"# {inert(safe_line(document.title, 200))}\n\n"
    yield f"- Session: `{safe_line(document.session)}`\n"
    yield f"- Folder: `{safe_line(document.cwd).replace('`', '')}`\n"
    yield f"- Begun: {safe_line(document.created)}\n"
    path = document.on_path()
    elsewhere = sum(_is_said(e) for e in document.entries) - sum(map(_is_said, path))
    if elsewhere > 0:
        yield f"- On other branches, and not shown here: {elsewhere} messages\n"
    pairs = pair(path)
    for entry in path:
        label = document.labels.get(entry.id)
        text = _entry(entry, pairs)
        if text and label is not None:
            yield f"\n**[{inert(safe_line(label, 60))}]**\n"
        if text:
            yield f"\n{text}\n"


def _is_said(entry: Entry) -> bool:
    return isinstance(entry.body, MessageBody) and not isinstance(entry.body.message, SystemMessage)


def _entry(entry: Entry, pairs: Pairs) -> str:
    match entry.body:
        case MessageBody(message):
            return _message(entry, message, pairs)
        case Compaction(summary=summary):
            return f"## Summary of what came before\n\n{inert(summary)}"
        case BranchSummary(summary=summary) if summary:
            return f"## Summary of a branch that was left\n\n{inert(summary)}"
        case CustomMessage(kind, content, True):
            return f"## {inert(safe_line(kind, 60))}\n\n{_blocks(content)}"
        case ModelChange(provider, model):
            return f"*Model: {inert(safe_line(f'{provider}/{model}', 120))}*"
        case _:
            return ""


def _message(entry: Entry, message: Message, pairs: Pairs) -> str:
    match message:
        case UserMessage(content):
            return f"## Prompt\n\n{_blocks(content)}"
        case AssistantMessage():
            return _answer(entry, message, pairs)
        case ToolResultMessage():
            if entry.id in pairs.placed:
                return ""
            return f"**Result of {safe_line(message.tool_name, 60)}**\n\n{_result(message)}"
        case BashExecutionMessage(command, output):
            return f"## Shell\n\n{fenced(command, 'sh')}\n\n{fenced(output)}"
        case SystemMessage():
            return ""
        case _:
            return inert(message_text(message))


def _answer(entry: Entry, message: AssistantMessage, pairs: Pairs) -> str:
    parts = ["## Answer"]
    for number, block in enumerate(message.content):
        match block:
            case Text(text):
                parts.append(inert(text))
            case Thinking(thinking) if thinking.strip():
                parts.append("*Thinking*\n\n" + fenced(thinking))
            case ToolCall():
                parts.append(_call(block, pairs.results.get((entry.id, number))))
            case _:
                continue
    if message.error_message:
        parts.append(f"*{message.stop_reason}: {inert(safe_line(message.error_message, 400))}*")
    return "\n\n".join(part for part in parts if part)


def _call(call: ToolCall, result: Entry | None) -> str:
    title = f"**{inert(safe_line(call.name, 60))}**"
    command = call.arguments.get("command")
    if call.name == "bash" and isinstance(command, str):
        told = fenced(command, "sh")
    else:
        told = fenced(call.raw_arguments or dumps_text(call.arguments), "json")
    if result is None:
        return f"{title}\n\n{told}\n\n*(no result)*"
    assert isinstance(result.body, MessageBody)
    assert isinstance(result.body.message, ToolResultMessage)
    return f"{title}\n\n{told}\n\n{_result(result.body.message)}"


def _result(message: ToolResultMessage) -> str:
    failed = "*failed*\n\n" if message.is_error else ""
    return failed + fenced(blocks_text(message.content))


def _blocks(content: tuple[UserBlock, ...]) -> str:
    parts = [
        f"*[{safe_line(b.mime_type, 40)} image]*" if isinstance(b, Image) else inert(b.text)
        for b in content
    ]
    return "\n\n".join(parts)


def fenced(text: str, language: str = "") -> str:
    """A block of code that nothing in the text can end."""
    text = safe_text(text).rstrip("\n")
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def inert(text: str) -> str:
    """Markdown as it was written, with nothing in it that a reader's program would run or load."""
    out: list[str] = []
    plain: list[str] = []
    fence = ""
    for line in safe_text(text).split("\n"):
        mark = _FENCE.match(line)
        if fence:
            out.append(line)
            if (
                mark
                and mark[1][0] == fence[0]
                and len(mark[1]) >= len(fence)
                and not mark[2].strip()
            ):
                fence = ""
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            out += _harmless(plain)
            plain = []
            fence = mark[1]
            # the info string is shown by nobody and may be markup to somebody
            out.append(line.replace("<", "").replace(">", ""))
        else:
            plain.append(line)
    out += _harmless(plain)
    if fence:
        out.append(fence)
    return "\n".join(out)


def _harmless(lines: list[str]) -> list[str]:
    """Outside of code: no tags, no pictures from elsewhere, no links that run."""
    if not lines:
        return []
    text = "\n".join(lines)
    parts: list[str] = []
    at = 0
    for span in _CODE_SPAN.finditer(text):
        if "\n\n" in span[2]:
            continue  # a code span ends with its paragraph
        parts += [_escaped(text[at : span.start()]), span[0]]
        at = span.end()
    parts.append(_escaped(text[at:]))
    return "".join(parts).split("\n")


def _escaped(text: str) -> str:
    text = text.replace("<", "&lt;").replace("![", "!\\[")
    return _REFERENCE.sub(r"\1\\[", _LINK.sub(r"\\]", text))
