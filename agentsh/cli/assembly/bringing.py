"""What another branch found, brought to the leaf by an agent: `b` and `B` in the tree, `pick`.

Its text, or a summary that a model writes, or its text and what the branch changed in the files.
Whether the files fit is known before anything is written or asked. Nothing else of the branch comes
along. Read next: agent/picking.py, agent/files/bringing.py.
"""

from __future__ import annotations

from agentsh.agent.agent import Agent
from agentsh.agent.files.bringing import Brought, bring_changes, plan_changes
from agentsh.agent.picking import pick_entry, place_summary
from agentsh.agent.turn.recorder import Recorder
from agentsh.session.file.session import Session
from agentsh.session.format.entries import EntryId
from agentsh.tools.undo.checkpointer import Checkpointer


class FilesOfBranch:
    """What the branch that ends at `target` changed in the working files.

    Raises RefusedError where that does not fit, ToolFailedError.
    """

    def __init__(self, recorder: Recorder, checkpointer: Checkpointer, target: EntryId) -> None:
        self._recorder = recorder
        self._checkpointer = checkpointer
        self._plan: Brought | None = plan_changes(recorder, checkpointer, target)

    def bring(self) -> tuple[str, ...]:
        """Change the files; what was done, in words."""
        if self._plan is None:
            return ("the branch's files are here already",)
        return bring_changes(self._recorder, self._checkpointer, self._plan)


def bring(
    agent: Agent,
    source: Session,
    target: EntryId,
    *,
    summary: bool = False,
    focus: str | None = None,
    files: bool = False,
) -> tuple[EntryId, tuple[str, ...]]:
    """Bring it; the entry that it made, and what was done to the files.

    Raises RefusedError, ProviderError, ToolFailedError.
    """
    states = agent.files
    changes = FilesOfBranch(states.recorder, states.checkpointer, target) if files else None
    if summary:
        summed = agent.sum_up(source, target, focus)
        made = agent.by_hand(lambda here: place_summary(here, source, target, summed))
    else:
        made = agent.by_hand(lambda here: pick_entry(here, source, target)).id
    return made, () if changes is None else changes.bring()
