"""The projection of the live path, made once per leaf.

A cache of a pure function: it can be dropped at any time without changing an answer.
Read next: context/projection.py.
"""

from __future__ import annotations

from agentsh.context.projection import Context, project
from agentsh.session.entries import EntryId
from agentsh.session.session import Session


class Projector:
    """Projects one session's leaf."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._leaf: EntryId | None = None
        self._context: Context | None = None

    def now(self) -> Context:
        """What the model would be told now."""
        leaf = self._session.leaf
        if self._context is None or leaf != self._leaf:
            self._context = project(self._session.live())
            self._leaf = leaf
        return self._context
