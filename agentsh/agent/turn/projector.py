"""The projection of the live path, made once and then grown with the path.

A cache of a pure function: it can be dropped at any time without changing an answer. Log-only
entries and plain messages are added to what there is (context/extension.py); anything else, and
every move of the leaf, projects anew. Read next: context/projection.py, growth.py.
"""

from __future__ import annotations

from agentsh.agent.growth import Grown, last_entry
from agentsh.context.extension import extended
from agentsh.context.projection import Context, project
from agentsh.session.file.session import Session
from agentsh.session.format.entries import Entry


class Projector:
    """Projects one session's leaf. `projections` counts how often a whole path was projected."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._context = Grown(session, self._made, self._extended)
        self._can_grow = False
        self.projections = 0

    def now(self) -> Context:
        """What the model would be told now."""
        return self._context.value()

    def _extended(self, context: Context, gained: tuple[Entry, ...]) -> Context | None:
        return extended(context, gained) if self._can_grow else None

    def _made(self) -> Context:
        self.projections += 1
        branch = self._session.live()
        last = last_entry(self._session)
        # with a repair that is only shown, the entries to come are in it already
        self._can_grow = (branch.entries[-1] if branch.entries else None) == last
        return project(branch)
