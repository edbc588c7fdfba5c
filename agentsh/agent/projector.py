"""The projection of the live path, made once and then grown with the path.

A cache of a pure function: it can be dropped at any time without changing an answer. Log-only
entries and plain messages are added to what there is (context/extension.py); anything else, and
every move of the leaf, projects anew. Read next: context/projection.py, growth.py.
"""

from __future__ import annotations

from agentsh.agent.growth import grown, last_entry
from agentsh.context.extension import extended
from agentsh.context.projection import Context, project
from agentsh.session.entries import Entry
from agentsh.session.session import Session


class Projector:
    """Projects one session's leaf. `projections` counts how often a whole path was projected."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._last: Entry | None = None
        self._context: Context | None = None
        self._can_grow = False
        self.projections = 0

    def now(self) -> Context:
        """What the model would be told now."""
        last = last_entry(self._session)
        if self._context is None or last is not self._last:
            self._context = self._grown() or self._made(last)
            self._last = last
        return self._context

    def _grown(self) -> Context | None:
        if self._context is None or not self._can_grow:
            return None
        gained = grown(self._session, self._last)
        return None if gained is None else extended(self._context, gained)

    def _made(self, last: Entry | None) -> Context:
        self.projections += 1
        branch = self._session.live()
        # with a repair that is only shown, the entries to come are in it already
        self._can_grow = (branch.entries[-1] if branch.entries else None) == last
        return project(branch)
