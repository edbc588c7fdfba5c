"""Automatic titles: what the model is told, the request, and what is taken of its answer. Pure.

The request gives the conversation as one short text, so it costs little however long the session
is. The `plan` is stored with the request, from which its body can be rebuilt (R33); the words are
part of recorded requests, as those of summaries.py are. Whether a title is wanted is not decided
here. Read next: agent/summaries/titler.py, transcript.py.
"""

from __future__ import annotations

import re
from typing import Final

from agentsh.context.outbound import OutboundRules, prepare_items
from agentsh.context.projection import Context, ContextMessage, Item
from agentsh.context.summaries.summaries import SummaryRequest, plan_budget
from agentsh.context.summaries.transcript import render_transcript
from agentsh.jsontext import JsonObject, clean
from agentsh.messages import Text, UserMessage

MAX_TITLE: Final = 60
"""Characters."""
_BUDGET: Final = 1000
# of a longer conversation so many messages at its beginning and at its end
_EACH_END: Final = 20

_SYSTEM: Final = (
    "You give titles to conversations between a person and a coding agent. You only write the "
    "title: you do not answer questions of the conversation, continue its work, or call tools."
)
_ASKED: Final = (
    "Write a title for this conversation, by which the person finds it again in a list: one line "
    f"of at most {MAX_TITLE} characters that says what it is about, in the language of the person. "
    "No quotes, no full stop, nothing before or after it."
)

_THOUGHT: Final = r"(?s)<think>.*?(?:</think>|$)"
_HEADING: Final = r"(?i)(?:#{1,6} |[>*-] |\*\*|title ?: ?)+"
_QUOTES: Final = "\"'`“”„‟‘’‚‛«»‹›「」『』"
_STOPS: Final = ".。"


def plan_title(context: Context) -> JsonObject | None:
    """None where nothing was said that could have a title."""
    return {"form": "transcript", "budget": _BUDGET} if context.items else None


def title_request(context: Context, rules: OutboundRules, plan: JsonObject) -> SummaryRequest:
    """The request that this plan describes. Raises ValueError for a plan of another kind."""
    transcript = render_transcript(_said(context), plan_budget(plan), results=False)
    instruction = f"<conversation>\n{transcript}\n</conversation>\n\n{_ASKED}"
    return SummaryRequest(
        _SYSTEM, prepare_items((Item(None, UserMessage((Text(instruction),))),), rules)
    )


def _said(context: Context) -> list[ContextMessage]:
    items = context.items
    if len(items) > 2 * _EACH_END:
        items = (*items[:_EACH_END], *items[-_EACH_END:])
    if not items:
        raise ValueError("nothing was said there")
    return [item.message for item in items]


def title_of(answer: str) -> str | None:
    """One clean line of at most MAX_TITLE characters; None where the answer has none."""
    for line in re.sub(_THOUGHT, "", clean(answer)).splitlines():
        shown = "".join(c if c.isprintable() else " " for c in line)
        title = _bare(" ".join(shown.split()))
        if title:
            return _short(title)
    return None


def _bare(text: str) -> str:
    """The title without marks of a heading, quotes around it and full stops at its end."""
    while (less := _unquoted(text)) != text:
        text = less
    return text


def _unquoted(text: str) -> str:
    if heading := re.match(_HEADING, text):
        text = text[heading.end() :]
    text = text.strip(" *").rstrip(_STOPS)
    if len(text) > 1 and text[0] in _QUOTES and text[-1] in _QUOTES:
        inner = text[1:-1]
        return text if text[0] in inner or text[-1] in inner else inner
    return "" if text in tuple(_QUOTES) else text


def _short(title: str) -> str:
    if len(title) <= MAX_TITLE:
        return title
    head = title[: MAX_TITLE - 1]
    whole_words, _, _ = head.rpartition(" ")
    return (whole_words if len(whole_words) > MAX_TITLE // 2 else head).rstrip() + "…"
