"""What the next request of a path is made of, by weight. Pure.

Estimates (tokens.py), scaled so that the last measured prompt of the path weighs what the server
said: what that prompt was is projected anew, so the figure holds whatever was compacted or hidden
since. The sections of a request add up to its tokens. Read next: tokens.py, ui/text/weights.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, assert_never

from msgspec import Struct

from agentsh.context.projection import Context, ContextMessage, SummaryMessage, project
from agentsh.context.summaries.compaction import NothingToCompact, plan_cut
from agentsh.context.system import UNNAMED, SystemState
from agentsh.context.tokens import (
    Room,
    estimate_context,
    estimate_message,
    estimate_text,
    estimate_tools,
    prompt_tokens,
    usage_is_plausible,
)
from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    CustomRoleMessage,
    ToolResultMessage,
    UserMessage,
)
from agentsh.session.format.entries import Branch, EntryId, MessageBody

HEAVIEST: Final = 10
DESCRIBES_TOOL: Final = "tool schema: "
"""Before a tool's name: what describes it to the model."""
_TRIES: Final = 8
"""Measurements that are held against their prompt, from the last one back."""
_CONTEXT: Final = "context"
_FILE: Final = re.compile(r'<file path="([^"\n]*)">\n.*?\n</file>\n*', re.DOTALL)


class Section(Struct, frozen=True):
    """A part of the request. The names are those of docs/cli.md."""

    name: str
    tokens: int


class Heavy(Struct, frozen=True):
    """A message of the request. `role` as in `show --view chat`."""

    entry: EntryId
    role: str
    tokens: int


class Weights(Struct, frozen=True):
    """The next request. `measured`: the last prompt that a server measured on this path, in tokens,
    which the estimates are scaled to; `kept`: what a compaction would keep, None: it would do
    nothing."""

    tokens: int
    measured: int | None
    room: Room
    sections: tuple[Section, ...]
    heaviest: tuple[Heavy, ...]
    kept: int | None = None


def weigh(branch: Branch, room: Room) -> Weights:
    """What the next request behind this path weighs, before its prompt."""
    context = project(branch)
    measured, of = _last_measurement(branch)
    scale = 1.0 if measured is None else measured / of
    parts = _parts(context)
    total = round(scale * sum(parts.values()))
    shares = _shared(total, tuple(parts.values()))
    sizes = [(item, estimate_message(item.message)) for item in context.items]
    heaviest = sorted(sizes, key=lambda each: -each[1])[:HEAVIEST]
    return Weights(
        total,
        measured,
        room,
        tuple(Section(name, tokens) for name, tokens in zip(parts, shares, strict=True)),
        tuple(
            Heavy(item.entry, _role(item.message), round(scale * size))
            for item, size in heaviest
            if item.entry is not None
        ),
        _kept(context, room.keep, scale),
    )


def _last_measurement(branch: Branch) -> tuple[int | None, int]:
    """The last prompt that was measured, and the estimate of that very prompt."""
    tries = 0
    for index in range(len(branch.entries) - 1, -1, -1):
        body = branch.entries[index].body
        if not isinstance(body, MessageBody) or not isinstance(body.message, AssistantMessage):
            continue
        usage = body.message.usage
        if prompt_tokens(usage) <= 0:
            continue
        prompt = project(Branch(branch.entries[:index], branch.complete))
        estimate = estimate_context(prompt)
        if estimate and usage_is_plausible(usage, estimate):
            return prompt_tokens(usage), estimate
        tries += 1
        if tries == _TRIES:
            break
    return None, 1


def _parts(context: Context) -> dict[str, int]:
    """Estimates by name: the system prompt, the tools, then the messages by who says them."""
    parts = _of_system(context.system)
    for item in context.items:
        name = _name_of(item.message)
        parts[name] = parts.get(name, 0) + estimate_message(item.message)
    return parts


def _of_system(state: SystemState) -> dict[str, int]:
    parts: dict[str, int] = {}
    for name, text in state.sections:
        title = f"system: {name}" if name != UNNAMED else "system"
        if name != _CONTEXT:
            parts[title] = estimate_text(text)
            continue
        remaining = _FILE.sub("", text).strip()
        if remaining:
            parts[title] = estimate_text(remaining)
        for match in _FILE.finditer(text):
            file = f"context file: {match[1]}"
            parts[file] = parts.get(file, 0) + estimate_text(match[0])
    for tool in state.tools:
        name = f"{DESCRIBES_TOOL}{tool.name}"
        parts[name] = parts.get(name, 0) + estimate_tools([tool])
    return parts


def _name_of(message: ContextMessage) -> str:
    match message:
        case SummaryMessage("compaction"):
            return "summary"
        case SummaryMessage():
            return "branch summaries"
        case ToolResultMessage():
            return f"results: {message.tool_name}"
        case UserMessage():
            return "prompts"
        case AssistantMessage():
            return "answers"
        case BashExecutionMessage():
            return "your commands"
        case CustomRoleMessage():
            return "custom messages"
        case _:
            assert_never(message)


def _role(message: ContextMessage) -> str:
    """Who says it, in the file's words."""
    match message:
        case SummaryMessage("compaction"):
            return "compaction"
        case SummaryMessage():
            return "branch_summary"
        case ToolResultMessage():
            return "toolResult"
        case UserMessage():
            return "user"
        case AssistantMessage():
            return "assistant"
        case BashExecutionMessage():
            return "bashExecution"
        case CustomRoleMessage():
            return "custom"
        case _:
            assert_never(message)


def _shared(total: int, parts: Sequence[int]) -> list[int]:
    """A whole number in whole parts, by their weight: what rounding leaves goes to the largest
    remainders."""
    weight = sum(parts)
    if not weight:
        return [0] * len(parts)
    shares = [total * part // weight for part in parts]
    left = total - sum(shares)
    by_remainder = sorted(range(len(parts)), key=lambda i: -(total * parts[i] % weight))
    for i in by_remainder[:left]:
        shares[i] += 1
    return shares


def _kept(context: Context, keep: int, scale: float) -> int | None:
    cut = plan_cut(context, keep)
    if isinstance(cut, NothingToCompact):
        return None
    tokens = sum(estimate_message(item.message) for item in context.items[cut.index :])
    return round(scale * tokens)
