"""A fork made on this machine: its file, and what was agreed to in its parent here goes with it.

It stands alone since three commands fork, and none of them may forget the second half. Read next:
session/exchange/fork.py, agent/grants.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agentsh.agent.grants import hand_on
from agentsh.cli.setup.paths import Paths
from agentsh.session.exchange.fork import fork_session
from agentsh.session.file.session import Session
from agentsh.session.format.entries import EntryId
from agentsh.session.store.store import Store
from agentsh.session.store.summary import read_header


def fork_here(
    places: Paths,
    store: Store,
    parent: Session,
    fork_point: EntryId | None,
    *,
    cwd: str | None = None,
    tell: Callable[[str], None] = lambda _words: None,
) -> Path:
    """Make the child in the store; its file. Raises as `fork_session` does."""
    path = fork_session(parent, fork_point, store, cwd=cwd, tell=tell)
    child = read_header(path)
    assert child is not None  # it has just been published, whole
    try:
        hand_on(places.grants, parent.header.id, child.id)
    except OSError as e:
        tell(f"what was allowed in the parent is asked about again: {e}")
    return path
