"""What a summariser is told, and the form of a request for a summary. Words and values only.

Shared by compaction.py and branching.py. The words are part of recorded requests, as those of
wording.py are: changing one needs a new `builder` number (agent/turn/requests.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

from msgspec import Struct

from agentsh.jsontext import JsonObject, clean
from agentsh.messages import SentMessage, ToolSchema
from agentsh.session.format.entries import EntryId

SUMMARY_TOKENS = 4_000
"""Room that a summary is given when it is reckoned whether its request fits."""

SYSTEM = (
    "You summarise conversations between a person and a coding agent. You only write the summary: "
    "you do not answer questions of the conversation, continue its work, or call tools."
)

_SECTIONS = """\
## Goal
What the person wants, in one or two sentences.
## Constraints
Wishes and limits that were named and still hold; "none" if there are none.
## Progress
Done, under way, and blocked, as three short lists.
## Decisions
What was decided, and why.
## Next steps
What comes next, in order.
## Facts to keep
Exact names, paths, commands, numbers and error messages that will be needed."""

_STYLE = (
    "Be exact and brief (at most about 1000 words). Keep names, paths and numbers as they are. "
    "Write nothing before or after the summary."
)

_LANGUAGE = (
    "Write in the language in which the person writes, the headings too, and name that language "
    "among the constraints, so that the work goes on in it."
)


class SummaryRequest(Struct, frozen=True):
    """What to send to get a summary: in one of the forms, already through the outbound pass."""

    system: str
    messages: tuple[SentMessage, ...]
    tools: tuple[ToolSchema, ...] = ()


def continuing_instruction(*, split: bool, focus: str | None, builder: int = 2) -> str:
    """The last message of a request that repeats the conversation up to the cut."""
    parts = [
        "Stop here and write a summary of everything above. It will stand in place of these "
        "messages when the work goes on, so it must hold whatever is needed to go on. Call no "
        "tools; answer with the summary alone.",
        "If the conversation begins with an earlier summary, carry over what still holds of it and "
        "bring it up to date.",
        f"Use these headings:\n{_SECTIONS}",
    ]
    return "\n\n".join([*parts, *_split(split), *_focus(focus), *_style(builder)])


def transcript_instruction(
    transcript: str,
    *,
    previous: str | None,
    split: bool,
    focus: str | None,
    builder: int = 2,
) -> str:
    """The only message of a request that gives the conversation as one text."""
    parts = [f"<conversation>\n{transcript}\n</conversation>"]
    if previous:
        parts.append(f"<previous-summary>\n{previous}\n</previous-summary>")
        parts.append(
            "Bring the previous summary up to date with the conversation above: keep what still "
            "holds, change what has changed, add what is new."
        )
    else:
        parts.append("Write a summary of the conversation above, so that the work can go on.")
    parts.append(f"Use these headings:\n{_SECTIONS}")
    return "\n\n".join([*parts, *_split(split), *_focus(focus), *_style(builder)])


def branch_instruction(transcript: str, *, focus: str | None, builder: int = 2) -> str:
    parts = [
        f"<conversation>\n{transcript}\n</conversation>",
        "This is a branch of a conversation that was left: the work goes on from an earlier point. "
        "Write a summary of it for whoever goes on: what was tried and found out, which files were "
        "changed, and what should not be tried again.",
        f"Use these headings:\n{_SECTIONS}",
    ]
    return "\n\n".join([*parts, *_focus(focus), *_style(builder)])


def _style(builder: int) -> list[str]:
    return [_STYLE] if builder < 2 else [_LANGUAGE, _STYLE]


def _split(split: bool) -> list[str]:
    if not split:
        return []
    return [
        "The last request of the person is still being worked on; what follows it is kept word for "
        "word. Add a heading `## Turn under way` with that request, what has been done for it so "
        "far, and what the kept part needs to be understood."
    ]


def _focus(focus: str | None) -> list[str]:
    if not focus or not focus.strip():
        return []
    return [f"The person asks you to mind this above all: {clean(focus.strip())}"]


def plan_budget(plan: JsonObject) -> int:
    """Tokens that a transcript may have. Raises ValueError if the plan does not say."""
    budget = plan.get("budget")
    if isinstance(budget, int):
        return budget
    raise ValueError("the plan names no budget")


def plan_focus(plan: JsonObject) -> str | None:
    focus = plan.get("focus")
    return focus if isinstance(focus, str) else None


def source_range(ids: Sequence[EntryId], lines: Iterable[bytes]) -> JsonObject | None:
    """Provenance of a summary (R31): the entries it was made from, with a digest of their lines.

    `ids` are of the path, oldest first; `lines` is what the file has for them, in pieces of any
    size. The digest is over all lines, each followed by one line feed.
    """
    if not ids:
        return None
    digest = sha256()
    for piece in lines:
        digest.update(piece)
    return {"from": ids[0], "to": ids[-1], "count": len(ids), "sha256": digest.hexdigest()}
