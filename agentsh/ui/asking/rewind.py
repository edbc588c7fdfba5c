"""What `/undo` undoes: the words for it, and what it would do. Pure.

Read next: navigation.py, plainchat.py, agent/moving.py.
"""

from __future__ import annotations

from agentsh.agent.files.rewinding import FilePlan
from agentsh.sanitize import safe_line

UNDO_WORDS = ("conversation", "files", "both")
UNDO_HEAD = "nothing is changed yet. What undoing the last prompt would do to the files:"
UNDO_CHOICE = (
    "to do it:",
    "  /undo both            the conversation and the files",
    "  /undo conversation    the conversation; the files stay as they are now",
    "  /undo files           the files; the conversation stays",
)
UNDO_OVERWRITE = ("  /undo both overwrite  both, and what would be left alone above, too",)


def undo_preview(plan: FilePlan) -> tuple[str, ...]:
    """What would change, and the lines to type for it; safe to show."""
    lines = [f"  {safe_line(line)}" for line in plan.lines()]
    return (UNDO_HEAD, *lines, *UNDO_CHOICE, *(UNDO_OVERWRITE if plan.conflicts else ()))
