"""The words that agentsh itself says to a model in the middle of a conversation.

All in one place because they are part of recorded requests: a body is rebuilt from the log (R33),
so a change of a word here needs a new `builder` number in agent/turn/requests.py. Text, no
decisions.
"""

from __future__ import annotations

import re
from typing import Literal

from agentsh.messages import BashExecutionMessage

NO_OUTPUT = "(no output)"
NO_RESULT = (
    "No result: the call was interrupted before it gave one. Nothing is known of its effect."
)
BRIDGE = "I have the results."
OPENING = "(The conversation goes on.)"
IMAGE_UNSUPPORTED = "[image left out: this model reads text only]"
IMAGE_UNSUMMARISED = "[image left out: a summary is made of words alone]"
ASIDE_WORDS = (
    "(This is an aside: answer it in words, from what is here. Calls of tools are refused, and"
    " nothing of this becomes part of the conversation.)"
)

_COMPACTED = (
    "The earlier part of this conversation is no longer shown in full. "
    "This summary stands in its place:"
)
_BRANCH = (
    "Before this point the conversation went another way, and then came back. "
    "This summary says what happened there:"
)


def image_note(reason: str) -> str:
    return f"[image left out: {reason}]"


def image_bound_note(most: int | None, size: int | None) -> str:
    """Why an older picture is not sent; `size` in bytes, None where that is not bounded."""
    counted = [] if most is None else [f"{most} pictures" if most != 1 else "1 picture"]
    sized = [] if size is None else [f"{size} bytes of pictures"]
    bounds = " and ".join((*counted, *sized))
    return image_note(f"the endpoint takes at most {bounds} in one request; the newest are kept")


def summary_text(kind: Literal["compaction", "branch"], summary: str) -> str:
    lead = _COMPACTED if kind == "compaction" else _BRANCH
    return f"{lead}\n\n<summary>\n{summary.strip()}\n</summary>"


def command_text(message: BashExecutionMessage) -> str:
    """A command that the person ran, and what it printed."""
    fence = "`" * max(3, 1 + max((len(r) for r in re.findall("`+", message.output)), default=0))
    output = message.output.rstrip("\n")
    parts = [f"I ran this command myself: `{message.command}`"]
    parts.append(f"{fence}\n{output}\n{fence}" if output else NO_OUTPUT)
    if message.cancelled:
        parts.append("It was cancelled.")
    elif message.exit_code:
        parts.append(f"Its exit code was {message.exit_code}.")
    if message.truncated and message.full_output_path:
        parts.append(f"The output is cut; all of it is in {message.full_output_path}")
    return "\n".join(parts)
