"""A conversation as one text, for a summariser, cut to a budget (S35).

Used when the real messages cannot be sent again: they are too many, or belong to a branch that was
left. Whatever the input, the text keeps to its budget: long results, arguments and texts are
clipped in the middle in ever smaller steps; if that is not enough, the oldest parts but the first
go. What is left out is said so in its place. Deterministic, since the request is rebuilt from the
log (R33).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from msgspec import Struct

from agentsh.context.projection import ContextMessage, SummaryMessage
from agentsh.context.tokens import estimate_text
from agentsh.context.wording import NO_OUTPUT, command_text
from agentsh.jsontext import clean, dumps_text
from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    CustomRoleMessage,
    Image,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserBlock,
    UserMessage,
)

MIN_BUDGET = 300


class _Limits(Struct, frozen=True):
    """Characters that one result or argument, one thought, one text may have."""

    tool: int
    thought: int
    text: int


_STEPS = (
    _Limits(tool=2000, thought=2000, text=20_000),
    _Limits(tool=600, thought=0, text=6000),
    _Limits(tool=200, thought=0, text=2000),
    _Limits(tool=80, thought=0, text=600),
)


def render_transcript(
    messages: Sequence[ContextMessage], budget: int, *, results: bool = True
) -> str:
    """At most `budget` tokens (by estimate, never less than MIN_BUDGET) of what was said."""
    budget = max(budget, MIN_BUDGET)
    for limits in _STEPS[:-1]:
        parts = _within(budget, messages, limits, results=results)
        if parts is not None:
            return "\n\n".join(parts)
    return "\n\n".join(_newest(messages, budget, _STEPS[-1], results=results))


def _within(
    budget: int, messages: Sequence[ContextMessage], limits: _Limits, *, results: bool
) -> list[str] | None:
    """All parts, or None as soon as they are too many tokens."""
    fitting: list[str] = []
    for message in messages:
        parts = _parts(message, limits, results=results)
        budget -= _size(parts)
        if budget < 0:
            return None
        fitting += parts
    return fitting


def _newest(
    messages: Sequence[ContextMessage], budget: int, limits: _Limits, *, results: bool
) -> list[str]:
    """All parts; or the first, which has the goal or an older summary, and as many of the last as
    fit. What is left out is counted, not rendered: of a long session it is nearly all."""
    left, first_kept = budget, len(messages)
    last: list[str] = []  # the last one first
    while first_kept and left >= 0:
        first_kept -= 1
        parts = _parts(messages[first_kept], limits, results=results)
        left -= _size(parts)
        last += reversed(parts)
    if left >= 0:
        return last[::-1]
    total = len(last) + sum(_count(m, results=results) for m in messages[:first_kept])
    first = clipped(_first(messages, limits, results=results), budget)
    room = budget - estimate_text(first) - 40
    newest: list[str] = []
    for part in last[: total - 1]:
        room -= estimate_text(part) + 1
        if room < 0:
            break
        newest.append(part)
    gone = total - 1 - len(newest)
    note = [f"[{gone} parts left out here]"] if gone else []
    return [first, *note, *reversed(newest)]


def _size(parts: Sequence[str]) -> int:
    return sum(estimate_text(part) + 1 for part in parts)


def _first(messages: Sequence[ContextMessage], limits: _Limits, *, results: bool) -> str:
    return next(p for m in messages for p in _parts(m, limits, results=results))


def _count(message: ContextMessage, *, results: bool) -> int:
    """How many parts `_parts` makes of it within the last limits, which leave no thought."""
    match message:
        case ToolResultMessage():
            return int(results and _is_said(_text(message.content) or NO_OUTPUT))
        case AssistantMessage():
            return sum(
                isinstance(b, ToolCall) or (isinstance(b, Text) and _is_said(b.text))
                for b in message.content
            )
        case UserMessage() | CustomRoleMessage():
            return int(_is_said(_text(message.content)))
        case BashExecutionMessage():
            return 1
        case SummaryMessage():
            return int(_is_said(message.summary))
        case _:
            assert_never(message)


def _is_said(text: str) -> bool:
    return bool(text) and not text.isspace()


def clipped(text: str, limit: int) -> str:
    """The text, or its beginning and end with a note between."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]}\n[… {len(text) - head - tail} characters left out …]\n{text[-tail:]}"


def _parts(message: ContextMessage, limits: _Limits, *, results: bool) -> list[str]:
    match message:
        case UserMessage():
            return _labelled("User", _text(message.content), limits.text)
        case CustomRoleMessage():
            return _labelled("Note", _text(message.content), limits.text)
        case BashExecutionMessage():
            return _labelled("User", command_text(message), limits.tool)
        case SummaryMessage(kind, summary):
            name = "Summary of what came before" if kind == "compaction" else "Summary of a branch"
            return _labelled(name, summary, limits.text)
        case ToolResultMessage():
            if not results:
                return []
            name = f"Result of {message.tool_name}" + (" (error)" if message.is_error else "")
            return _labelled(name, _text(message.content) or NO_OUTPUT, limits.tool)
        case AssistantMessage():
            return [p for block in message.content for p in _said(block, limits)]
        case _:
            assert_never(message)


def _said(block: Text | Thinking | ToolCall, limits: _Limits) -> list[str]:
    match block:
        case Text():
            return _labelled("Assistant", block.text, limits.text)
        case Thinking():
            return _labelled("Assistant thinks", block.thinking, limits.thought)
        case ToolCall():
            arguments = ", ".join(
                f"{name}={clipped(dumps_text(value), limits.tool)}"
                for name, value in block.arguments.items()
            )
            return _labelled("Assistant calls", f"{block.name}({arguments})", 4 * limits.tool)
        case _:
            assert_never(block)


def _labelled(name: str, text: str, limit: int) -> list[str]:
    said = _framed(clean(text).strip())
    return [f"[{name}]: {clipped(said, limit)}"] if said and limit else []


def _framed(text: str) -> str:
    """Text that cannot end the element which the transcript is put into."""
    return text.replace("</conversation>", "< /conversation>")


def _text(content: Sequence[UserBlock]) -> str:
    return "\n".join("[image]" if isinstance(b, Image) else b.text for b in content)
