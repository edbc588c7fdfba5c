"""Summaries of branches that are left: what to summarise, the request, the entry. Pure plans.

When the leaf moves to another branch, what was learnt on the old one can be kept as a branch
summary (R78): of everything on the old path that is not on the new one, back to their common
ancestor, or to a compaction on the way, whose summary then stands for the rest. Made from the
projection of the old path, so it says what the model had seen. The `plan` is small JSON and stored
with the request, from which its body can be rebuilt (R33). Read next: summaries.py.
"""

from __future__ import annotations

from collections.abc import Collection

from agentsh.context.outbound import OutboundRules, prepare_items
from agentsh.context.projection import Context, ContextMessage, Item
from agentsh.context.summaries.compaction import SMALLEST_BUDGET, UNKNOWN_WINDOW_BUDGET
from agentsh.context.summaries.filelists import file_lists, with_tags
from agentsh.context.summaries.summaries import (
    SUMMARY_TOKENS,
    SYSTEM,
    SummaryRequest,
    branch_instruction,
    plan_budget,
    plan_focus,
)
from agentsh.context.summaries.transcript import render_transcript
from agentsh.context.tokens import estimate_text
from agentsh.jsontext import JsonObject, clean
from agentsh.messages import OWN_DETAILS, Text, Usage, UserMessage
from agentsh.session.format.entries import BranchSummary, EntryId


def plan_branch_summary(
    context: Context,
    left: Collection[EntryId],
    *,
    window: int | None = None,
    focus: str | None = None,
) -> JsonObject | None:
    """The plan for what is left; None when nothing was said there.

    `context` is the projection of the old path, `left` the ids on it below the common ancestor.
    """
    said = [i for i, item in enumerate(context.items) if item.entry in left]
    if not said:
        return None
    summarised = context.compaction is not None and context.compaction in left
    left_said = [i for i in said if context.items[i].entry != context.compaction]
    asked = estimate_text(branch_instruction("", focus=focus)) + SUMMARY_TOKENS
    budget = UNKNOWN_WINDOW_BUDGET if window is None else (window - asked) * 2 // 3
    return {
        "form": "transcript",
        "compaction": summarised,
        "first": context.items[left_said[0]].entry if left_said else None,
        "budget": max(budget, SMALLEST_BUDGET),
        "focus": focus or None,
    }


def branch_summary_messages(
    context: Context, rules: OutboundRules, plan: JsonObject
) -> SummaryRequest:
    """The request that this plan describes. Raises ValueError if it is not of this context."""
    given = plan.get("transcript")
    transcript = given if isinstance(given, str) else branch_transcript(context, plan)
    instruction = branch_instruction(transcript, focus=plan_focus(plan), builder=rules.builder)
    return SummaryRequest(
        SYSTEM, prepare_items((Item(None, UserMessage((Text(instruction),))),), rules)
    )


def branch_transcript(context: Context, plan: JsonObject) -> str:
    """What a summariser reads of that branch."""
    return render_transcript(left_messages(context, plan), plan_budget(plan), results=False)


def left_messages(context: Context, plan: JsonObject) -> list[ContextMessage]:
    """What was said on the branch that is left, oldest first."""
    items, first = context.items, plan.get("first")
    head = items[:1] if plan.get("compaction") is True else ()
    if first is None:
        return [item.message for item in head]
    start = next((i for i, item in enumerate(items) if item.entry == first), None)
    if start is None:
        raise ValueError(f"the plan begins at {first!r}, which is not in this context")
    return [item.message for item in (*head, *items[start:])]


def finish_branch(
    context: Context,
    plan: JsonObject,
    text: str,
    *,
    from_id: EntryId,
    source: JsonObject | None = None,
    usage: Usage | None = None,
) -> BranchSummary:
    """The entry's body; `from_id` is the leaf that was left. Raises ValueError on an empty text."""
    if not text.strip():
        raise ValueError("the summary is empty")
    files = file_lists(left_messages(context, plan))
    details = files.details()
    if source is not None:
        details[OWN_DETAILS] = {"src": source}
    return BranchSummary(
        summary=with_tags(clean(text), files), from_id=from_id, details=details, usage=usage
    )
