"""Where to cut, what to ask the summariser, and the entry that comes of it. Pure plans.

A compaction keeps the end of the context as it is and puts a summary in place of the rest. The cut
stands before a message that may begin a context, never between a call and its result (S30), and
keeps about the budget. What is summarised begins where the last compaction's kept part began, so
nothing falls out of both; the old summary is brought up to date, not summarised anew.

The request repeats the conversation up to the cut and puts the instruction last, so that it hits
the provider's prompt cache; where that does not fit the window it becomes a transcript of bounded
size (S35). Which form, where the cut is and the focus are in a small JSON `plan` that is stored
with the request, so that its body can be rebuilt from the log (R33). Read next: summaries.py,
transcript.py; agent/summaries/compactor.py runs these plans.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from msgspec import Struct

from agentsh.context.outbound import OutboundRules, prepare_items, render_system
from agentsh.context.projection import Context, ContextMessage, Item, SummaryMessage
from agentsh.context.summaries.filelists import FileLists, file_lists, with_tags, without_tags
from agentsh.context.summaries.summaries import (
    SUMMARY_TOKENS,
    SYSTEM,
    SummaryRequest,
    continuing_instruction,
    plan_budget,
    plan_focus,
    transcript_instruction,
)
from agentsh.context.summaries.transcript import clipped, render_transcript
from agentsh.context.system import checkpoint
from agentsh.context.tokens import (
    context_tokens,
    estimate_message,
    estimate_messages,
    estimate_system,
    estimate_text,
    exceeds,
)
from agentsh.jsontext import JsonObject, clean
from agentsh.messages import (
    OWN_DETAILS,
    AssistantMessage,
    BashExecutionMessage,
    CustomRoleMessage,
    Text,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from agentsh.session.format.blockcodec import encode_usage
from agentsh.session.format.entries import Branch, Compaction, EntryId

UNKNOWN_WINDOW_BUDGET = 24_000
SMALLEST_BUDGET = 1_500


class Cut(Struct, frozen=True):
    """A context's items split in two. `first_kept` None: nothing is kept."""

    first_kept: EntryId | None
    start: int
    """First item to be summarised: 1 behind an older summary, else 0."""
    index: int
    """First item that is kept."""
    is_split: bool
    """The cut stands inside a turn."""


class NothingToCompact(Struct, frozen=True):
    """Why there is no cut, in words for the user."""

    reason: str


def plan_cut(context: Context, keep_tokens: int) -> Cut | NothingToCompact:
    """Where to cut so that about `keep_tokens` of the end stay as they are."""
    items, start = context.items, _start(context)
    if len(items) == start:
        return NothingToCompact("There is nothing to compact: nothing has been said yet.")
    index = _cut_index(items, start, max(keep_tokens, 1))
    if index <= start:
        if context.compaction is not None and context.tail == len(items):
            return NothingToCompact("Already compacted: nothing has been said since.")
        return NothingToCompact(
            f"There is nothing to compact: the last {keep_tokens} tokens are kept, and that is all."
        )
    first_kept = items[index].entry if index < len(items) else None
    return Cut(first_kept, start, index, _is_split(items, index))


def plan_cut_before(
    context: Context, path: Sequence[EntryId], entry: EntryId
) -> Cut | NothingToCompact:
    """Where to cut so that what stands before an entry of the path is summarised.

    Calls and their results are kept together, so a result is kept with the answer that called it.
    """
    if entry not in path:
        return NothingToCompact(f"{entry} is not on the current path.")
    items, start = context.items, _start(context)
    later = set(path[path.index(entry) :])
    index = next((i for i in range(start, len(items)) if items[i].entry in later), len(items))
    if index < len(items):
        index = max((i for i in _allowed(items, start) if i <= index), default=start)
    if index <= start:
        return NothingToCompact(
            f"There is nothing to compact: the model is sent nothing that stands before {entry}."
        )
    return Cut(
        items[index].entry if index < len(items) else None, start, index, _is_split(items, index)
    )


def _start(context: Context) -> int:
    """1 when the context begins with the summary of a compaction."""
    return int(_previous(context) is not None)


def _previous(context: Context) -> SummaryMessage | None:
    first = context.items[0] if context.items else None
    if first is None or context.compaction is None or first.entry != context.compaction:
        return None
    return first.message if isinstance(first.message, SummaryMessage) else None


def _cut_index(items: Sequence[Item], start: int, keep: int) -> int:
    """Index of the first kept item; `start` when all is kept, the length when nothing is."""
    tokens, point = 0, len(items)
    while point > start and tokens < keep:
        point -= 1
        tokens += estimate_message(items[point].message)
    if tokens < keep:
        return start
    allowed = _allowed(items, start)
    after = next((i for i in allowed if i >= point), None)
    if after is not None:
        return after
    # the end is a run of results: keep them with their calls if that is not far over the budget,
    # else keep nothing, because a cut that frees nothing would be made again and again (S31)
    before = next((i for i in reversed(allowed) if i < point), None)
    if before is not None:
        size = sum(estimate_message(item.message) for item in items[before:])
        if size <= 2 * keep:
            return before
    return len(items)


def _allowed(items: Sequence[Item], start: int) -> list[int]:
    """Where a kept part may begin: at an entry of its own, not between calls and their results."""
    barred: set[int] = set()
    caller = start
    for i in range(start, len(items)):
        message = items[i].message
        if isinstance(message, AssistantMessage):
            caller = i
        elif isinstance(message, ToolResultMessage):
            barred.update(range(caller + 1, i + 1))
    return [i for i in range(start, len(items)) if i not in barred and items[i].entry is not None]


def _is_split(items: Sequence[Item], index: int) -> bool:
    if index == len(items):
        return isinstance(items[-1].message, ToolResultMessage)
    match items[index].message:
        case UserMessage() | BashExecutionMessage() | CustomRoleMessage() | SummaryMessage():
            return False
        case AssistantMessage() | ToolResultMessage():
            return True
        case message:
            assert_never(message)


# ---- the request -----------------------------------------------------------------------------


def plan_summary(
    context: Context, cut: Cut, *, window: int | None = None, focus: str | None = None
) -> JsonObject:
    """The plan of the request: the conversation again where it fits, else a transcript of it."""
    summarised = _messages(context, 0, cut.index)
    asked = estimate_text(continuing_instruction(split=cut.is_split, focus=focus))
    others = estimate_system(context.system) + asked + SUMMARY_TOKENS
    fits = window is None or not exceeds(summarised, window - others)
    budget = UNKNOWN_WINDOW_BUDGET if window is None else _room(window)
    if fits:  # the transcript to fall back on must be clearly smaller than what was refused
        budget = min(budget, estimate_messages(summarised) // 2)
    return {
        "form": "prefix" if fits else "transcript",
        "firstKept": cut.first_kept,
        "split": cut.is_split,
        "budget": max(budget, SMALLEST_BUDGET),
        "focus": focus or None,
    }


def _room(window: int) -> int:
    """Tokens for a transcript: estimates may be short by a third, and the answer needs room."""
    return (window - min(SUMMARY_TOKENS, window // 4)) * 2 // 3


def smaller_plan(plan: JsonObject) -> JsonObject | None:
    """The next try after the server said that a request does not fit; None when there is none."""
    if plan.get("form") == "prefix":
        return {**plan, "form": "transcript"}
    budget = plan.get("budget")
    if not isinstance(budget, int) or budget <= SMALLEST_BUDGET:
        return None
    return {**plan, "budget": max(budget // 2, SMALLEST_BUDGET)}


def compaction_messages(context: Context, rules: OutboundRules, plan: JsonObject) -> SummaryRequest:
    """The request that this plan describes. Raises ValueError if it is not of this context."""
    index = _index(context, plan)
    focus = plan_focus(plan)
    split = plan.get("split") is True
    if plan.get("form") == "prefix":
        instruction = continuing_instruction(split=split, focus=focus, builder=rules.builder)
        items = (*context.items[:index], Item(None, UserMessage((Text(instruction),))))
        return SummaryRequest(
            render_system(context.system), prepare_items(items, rules), context.system.tools
        )
    room, before = plan_budget(plan), _previous(context)
    previous = None
    if before is not None:
        previous = clipped(clean(without_tags(before.summary)), 2 * room)  # half of the budget
        room -= estimate_text(previous)
    transcript = render_transcript(_messages(context, _start(context), index), room)
    prompt = transcript_instruction(
        transcript,
        previous=previous,
        split=split,
        focus=focus,
        builder=rules.builder,
    )
    return SummaryRequest(SYSTEM, prepare_items((Item(None, UserMessage((Text(prompt),))),), rules))


def _index(context: Context, plan: JsonObject) -> int:
    first_kept = plan.get("firstKept")
    if first_kept is None:
        return len(context.items)
    for i, item in enumerate(context.items):
        if item.entry == first_kept:
            return i
    raise ValueError(f"the plan keeps {first_kept!r}, which is not in this context")


def _messages(context: Context, start: int, end: int) -> list[ContextMessage]:
    return [item.message for item in context.items[start:end]]


# ---- the entry -------------------------------------------------------------------------------


def replaced_entries(branch: Branch, context: Context, cut: Cut) -> tuple[EntryId, ...]:
    """The entries of the path that the summary stands for, oldest first (R31).

    From the first that was summarised to the last before the kept part, log-only ones included.
    """
    first = next((i.entry for i in context.items[cut.start : cut.index] if i.entry), None)
    ids = [entry.id for entry in branch.entries]
    if first is None or first not in ids:
        return ()
    end = ids.index(cut.first_kept) if cut.first_kept in ids else len(ids)
    return tuple(ids[ids.index(first) : end])


def shrinks(context: Context, cut: Cut, summary: str, files: FileLists | None = None) -> bool:
    """Whether the summary is smaller than what it stands for; if not, it must not be stored."""
    room = estimate_text(stored_summary(context, cut, summary, files))
    return exceeds(_messages(context, 0, cut.index), room)


def cut_files(context: Context, cut: Cut) -> FileLists:
    """The files that the messages to be summarised read and changed."""
    return file_lists(_messages(context, 0, cut.index))


def stored_summary(context: Context, cut: Cut, text: str, files: FileLists | None = None) -> str:
    """The model's text as it is stored: cleaned, with the file lists behind it."""
    said = clean(text).strip().removeprefix("<summary>").removesuffix("</summary>")
    return with_tags(said, cut_files(context, cut) if files is None else files)


class SummaryOrigin(Struct, frozen=True):
    """What is on record of how a summary came to be."""

    source: JsonObject | None = None
    """summaries.source_range of `replaced_entries`."""
    usage: Usage | None = None
    timestamp: int = 0
    """Milliseconds."""
    turn: int | None = None
    """The number of the newest turn."""
    spent: Usage | None = None
    """What the path before took."""


def finish(
    context: Context,
    cut: Cut,
    text: str,
    origin: SummaryOrigin = SummaryOrigin(),  # noqa: B008  # frozen
    *,
    tokens_before: int | None = None,
    files: FileLists | None = None,
) -> Compaction:
    """The entry's body. It states everything in force, so that nothing older is needed to open.

    `tokens_before` and `files` (cut_files) are given where they are known already. Raises
    ValueError on an empty text.
    """
    if not text.strip():
        raise ValueError("the summary is empty")
    files = cut_files(context, cut) if files is None else files
    ours: JsonObject = {
        "provider": context.model.provider if context.model else None,
        "model": context.model.model if context.model else None,
        "thinking": context.thinking,
        "state": dict(context.state),
    }
    took = None if origin.spent is None else encode_usage(origin.spent)
    more: JsonObject = {"turn": origin.turn, "spent": took, "src": origin.source}
    ours |= {name: value for name, value in more.items() if value is not None}
    return Compaction(
        summary=stored_summary(context, cut, text, files),
        first_kept=cut.first_kept,
        tokens_before=context_tokens(context) if tokens_before is None else tokens_before,
        details={**files.details(), OWN_DETAILS: ours},
        system=checkpoint(context.system, origin.timestamp),
        usage=origin.usage,
    )
