"""How many tokens is that? Estimates, measurements, and the limits that compaction goes by.

An estimate is a quarter of the UTF-8 bytes, rounded up per block (for ASCII: chars / 4, as Pi has
it; letters of other scripts weigh more, as they do for tokenizers). A measurement is the usage that
a server reported with an answer; it counts only if it stands after the last compaction (S32), if
nothing of its prompt was edited since, and if it is plausible: zero is no measurement, and neither
is a figure far from any estimate, as of a server that cuts prompts (E31). Pure. Read next:
compaction.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from msgspec import Struct

from agentsh.context.projection import Context, ContextMessage, Item, SummaryMessage
from agentsh.context.system import SystemState
from agentsh.jsontext import dumps
from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    CustomRoleMessage,
    Image,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    ToolSchema,
    Usage,
    UserMessage,
)

IMAGE_TOKENS = 1200
RESERVE = 16_384
_KEEP = 20_000
_SMALL = 2_000
"""Below this, estimate and measurement are too coarse to be held against each other."""
_USUAL_CUTS = frozenset({2048, 4096, 8192})


# ---- estimates -------------------------------------------------------------------------------


def estimate_text(text: str) -> int:
    return (len(text) + 3) // 4 if text.isascii() else (_utf8(text) + 3) // 4


def _utf8(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def estimate_message(message: ContextMessage) -> int:
    match message:
        case ToolResultMessage() | AssistantMessage() | UserMessage() | CustomRoleMessage():
            size = 0
            for block in message.content:
                if type(block) is Text and (text := block.text).isascii():  # nearly all of them
                    size += (len(text) + 3) // 4
                else:
                    size += _block(block)
            return size
        case BashExecutionMessage():
            return estimate_text(message.command + message.output)
        case SummaryMessage():
            return estimate_text(message.summary)
        case _:
            assert_never(message)


def _block(block: Text | Thinking | ToolCall | Image) -> int:
    match block:
        case ToolCall():
            return (_utf8(block.name) + len(dumps(block.arguments)) + 3) // 4
        case Text():
            return estimate_text(block.text)
        case Thinking():
            return estimate_text(block.thinking)
        case Image():
            return IMAGE_TOKENS
        case _:
            assert_never(block)


def estimate_messages(messages: Iterable[ContextMessage]) -> int:
    return sum(estimate_message(message) for message in messages)


def exceeds(messages: Iterable[ContextMessage], tokens: int) -> bool:
    """Whether they are more than that; looks no further than it must."""
    if tokens < 0:
        return True
    for message in messages:
        tokens -= estimate_message(message)
        if tokens < 0:
            return True
    return False


def estimate_tools(tools: Iterable[ToolSchema]) -> int:
    return sum(
        (_utf8(tool.name + tool.description) + len(dumps(tool.parameters)) + 3) // 4
        for tool in tools
    )


def estimate_system(state: SystemState) -> int:
    """The system prompt and the tools: what every request carries."""
    return sum(estimate_text(text) for _, text in state.sections) + estimate_tools(state.tools)


def estimate_context(context: Context) -> int:
    """The whole of a request, by estimate alone."""
    return estimate_system(context.system) + estimate_messages(i.message for i in context.items)


# ---- measurements ----------------------------------------------------------------------------


def prompt_tokens(usage: Usage) -> int:
    return usage.input + usage.cache_read + usage.cache_write


def total_tokens(usage: Usage) -> int:
    return usage.total_tokens or prompt_tokens(usage) + usage.output


def usage_is_plausible(usage: Usage, estimate: int) -> bool:
    """Whether a reported prompt may be taken for a measurement of what was estimated so.

    The bounds are wide: one token for sixteen bytes of blanks and two for a rare letter both occur.
    """
    reported, total = prompt_tokens(usage), total_tokens(usage)
    if reported <= 0 or total <= 0:
        return False
    if reported > 10 * estimate + 10_000:
        return False
    return not _is_cut(reported, total, estimate)


def _is_cut(reported: int, total: int, estimate: int) -> bool:
    if reported <= 0 or estimate < _SMALL:
        return False
    if total in _USUAL_CUTS and reported * 10 < estimate * 7:
        return True
    return reported * 3 < estimate


def context_tokens(context: Context) -> int:
    """What the next request will weigh: the last good measurement, and an estimate of the rest."""
    return weigh_context(context)[0]


def item_sizes(items: Iterable[Item]) -> list[int]:
    """What each is estimated to weigh, in tokens."""
    return [estimate_message(item.message) for item in items]


def weigh_context(context: Context, sizes: Sequence[int] | None = None) -> tuple[int, bool]:
    """(what the next request will weigh, whether any of that is an estimate)

    `sizes`: what `item_sizes` says of the context's items, where it was asked before.
    """
    if sizes is None:
        sizes = item_sizes(context.items)
    return weigh_from(last_measured(context, sizes), context, sizes)


def weigh_from(
    measured: tuple[int, Usage] | None, context: Context, sizes: Sequence[int]
) -> tuple[int, bool]:
    """The same, where the last measurement was looked for before."""
    if measured is None:
        return estimate_system(context.system) + sum(sizes), True
    index, usage = measured
    return total_tokens(usage) + sum(sizes[index + 1 :]), index < len(sizes) - 1


def last_measured(context: Context, sizes: Sequence[int]) -> tuple[int, Usage] | None:
    """The index of the last item with a good measurement of what stands before it, and that."""
    before = estimate_system(context.system) + sum(sizes)
    for i in range(len(sizes) - 1, context.tail - 1, -1):
        item = context.items[i]
        before -= sizes[i]
        if (
            isinstance(item.message, AssistantMessage)
            and item.entry not in context.outdated
            and usage_is_plausible(item.message.usage, before)
        ):
            return i, item.message.usage
    return None


# ---- limits ----------------------------------------------------------------------------------


def reserve_tokens(window: int, max_output: int | None = None) -> int:
    """What must stay free for the answer; some servers add its budget to the prompt (S34)."""
    usual = min(RESERVE, window // 5)
    return min(max(usual, max_output or 0), window - window // 4)


def keep_tokens(window: int | None, max_output: int | None = None) -> int:
    """How much of the end a compaction leaves as it is."""
    if window is None:
        return _KEEP
    return min(_KEEP, (window - reserve_tokens(window, max_output)) // 3)


def needs_compaction(tokens: int, window: int | None, max_output: int | None = None) -> bool:
    """Whether prompt and answer together may not fit. An unknown window never asks for it."""
    return window is not None and tokens + reserve_tokens(window, max_output) > window


class Room(Struct, frozen=True):
    """How the tokens of a window are shared out. `window` None: it is unknown.

    `reserve` stays free for the answer, and `keep` is what a compaction leaves of the end.
    """

    window: int | None
    reserve: int | None
    keep: int


def room_of(
    window: int | None,
    max_output: int | None = None,
    reserve: int | None = None,
    keep: int | None = None,
) -> Room:
    """The room in a window; `reserve` and `keep` as asked for, None: the usual."""
    free = max(reserve or 0, max_output or 0) or None
    return Room(
        window,
        None if window is None else reserve_tokens(window, free),
        keep_tokens(window, max_output) if keep is None else keep,
    )
