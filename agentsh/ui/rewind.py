"""What `/undo` undoes: the words for it, and the prompt that it is about. Pure.

Read next: moves.py, plainchat.py, agent/rewinding.py.
"""

from __future__ import annotations

from agentsh.messages import UserMessage
from agentsh.session.entries import Branch, Custom, EntryId, MessageBody

CHECKPOINT = "agentsh.checkpoint"
UNDO_WORDS = ("conversation", "files", "both")
UNDO_CHOICE = (
    "/undo conversation, /undo files or /undo both says which is meant;",
    "`overwrite` behind it takes back what is left alone, too",
)


def last_prompt(branch: Branch) -> tuple[EntryId | None, bool]:
    """The newest prompt of the path, and whether the files' state was recorded after it."""
    changed = False
    for entry in reversed(branch.entries):
        body = entry.body
        if isinstance(body, MessageBody) and isinstance(body.message, UserMessage):
            return entry.id, changed
        changed = changed or (isinstance(body, Custom) and body.custom_type == CHECKPOINT)
    return None, changed
