"""A session's path as Markdown for people. Pure.

What was said keeps its Markdown, but what could act in it is made inert (X04, inert.py). What tools
printed stands in a fence that nothing in it can end. Words of a session that stand in a line of
ours are inert, too. Read next: document.py, inert.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

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
from agentsh.sanitize import safe_line
from agentsh.session.format.entries import (
    BranchSummary,
    Compaction,
    CustomMessage,
    Entry,
    MessageBody,
    ModelChange,
)
from agentsh.ui.export.document import Document, Pairs, pair_results
from agentsh.ui.export.inert import inert, inert_line
from agentsh.views.describe import blocks_text, message_text
from agentsh.views.fences import fenced


def render_markdown(document: Document) -> Iterator[str]:
    """Pieces of the file."""
    yield f"# {_words(document.title, 200)}\n\n"
    yield f"- Session: `{safe_line(document.session).replace('`', '')}`\n"
    yield f"- Folder: `{safe_line(document.cwd).replace('`', '')}`\n"
    yield f"- Begun: {_words(document.created)}\n"
    path = document.on_path()
    elsewhere = sum(_is_said(e) for e in document.entries) - sum(map(_is_said, path))
    if elsewhere > 0:
        yield f"- On other branches, and not shown here: {elsewhere} messages\n"
    pairs = pair_results(path)
    for entry in path:
        label = document.labels.get(entry.id)
        text = _entry(entry, pairs)
        if text and label is not None:
            yield f"\n**[{_words(label, 60)}]**\n"
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
            return f"## {_words(kind, 60)}\n\n{_blocks(content)}"
        case ModelChange(provider, model):
            return f"*Model: {_words(f'{provider}/{model}', 120)}*"
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
            return f"**Result of {_words(message.tool_name, 60)}**\n\n{_result(message)}"
        case BashExecutionMessage(command, output):
            return f"## Shell\n\n{fenced(command, 'sh')}\n\n{fenced(output)}"
        case SystemMessage():
            return ""
        case _:
            return inert(message_text(message))


def _answer(entry: Entry, message: AssistantMessage, pairs: Pairs) -> str:
    parts = ["## Answer"]
    said: list[str] = []  # texts that follow each other are read as one
    for number, block in enumerate(message.content):
        if isinstance(block, Text):
            said.append(block.text)
            continue
        parts.append(inert("\n\n".join(said)))
        said = []
        match block:
            case Thinking(thinking) if thinking.strip():
                parts.append("*Thinking*\n\n" + fenced(thinking))
            case ToolCall():
                parts.append(_call(block, pairs.results.get((entry.id, number))))
            case _:
                continue
    parts.append(inert("\n\n".join(said)))
    if message.error_message:
        reason = f"{message.stop_reason}: {message.error_message}"
        parts.append(f"*{_words(reason, 400)}*")
    return "\n\n".join(part for part in parts if part)


def _call(call: ToolCall, result: Entry | None) -> str:
    title = f"**{_words(call.name, 60)}**"
    command = call.arguments.get("command")
    if call.name == "bash" and isinstance(command, str):
        block = fenced(command, "sh")
    else:
        block = fenced(call.raw_arguments or dumps_text(call.arguments), "json")
    if result is None:
        return f"{title}\n\n{block}\n\n*(no result)*"
    assert isinstance(result.body, MessageBody)
    assert isinstance(result.body.message, ToolResultMessage)
    return f"{title}\n\n{block}\n\n{_result(result.body.message)}"


def _result(message: ToolResultMessage) -> str:
    failed = "*failed*\n\n" if message.is_error else ""
    return failed + fenced(blocks_text(message.content))


def _blocks(content: tuple[UserBlock, ...]) -> str:
    parts: list[str] = []
    for is_image, run in groupby(content, lambda block: isinstance(block, Image)):
        if is_image:
            kinds = [_words(b.mime_type, 40) for b in run if isinstance(b, Image)]
            parts += [f"*({kind} image)*" for kind in kinds]
        else:
            parts.append(inert("\n\n".join(b.text for b in run if isinstance(b, Text))))
    return "\n\n".join(parts)


def _words(text: str, limit: int | None = None) -> str:
    """Words of a session in a line of ours."""
    return inert_line(safe_line(text, limit))
