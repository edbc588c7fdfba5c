"""What `/undo` undoes: the words for it, what it would do, and the prompt that it is about. Pure.

Read next: navigation.py, plainchat.py, agent/files/rewinding.py.
"""

from __future__ import annotations

from agentsh.agent.files.rewinding import FilePlan
from agentsh.messages import UserMessage
from agentsh.sanitize import safe_line
from agentsh.session.format.entries import Branch, Custom, EntryId, MessageBody
from agentsh.session.format.factcodec import name_of
from agentsh.session.format.facts import Checkpoint

_CHECKPOINT = name_of(Checkpoint)
UNDO_WORDS = ("conversation", "files", "both")
UNDO_HEAD = "nothing is changed yet. What undoing the last prompt would do to the files:"
UNDO_CHOICE = (
    "to do it:",
    "  /undo both            the conversation and the files",
    "  /undo conversation    the conversation; the files stay as they are now",
    "  /undo files           the files; the conversation stays",
)
UNDO_OVERWRITE = ("  /undo both overwrite  both, and what would be left alone above, too",)


def last_prompt(branch: Branch) -> tuple[EntryId | None, bool]:
    """The newest prompt of the path, and whether the files' state was recorded after it."""
    changed = False
    for entry in reversed(branch.entries):
        body = entry.body
        if isinstance(body, MessageBody) and isinstance(body.message, UserMessage):
            return entry.id, changed
        changed = changed or (isinstance(body, Custom) and body.custom_type == _CHECKPOINT)
    return None, changed


def undo_preview(plan: FilePlan) -> tuple[str, ...]:
    """What would change, and the lines to type for it; safe to show."""
    lines = [f"  {safe_line(line)}" for line in plan.lines()]
    return (UNDO_HEAD, *lines, *UNDO_CHOICE, *(UNDO_OVERWRITE if plan.conflicts else ()))
