"""`explore pick`, put together: what fits is known first, then the session, then the files.

The trunk is locked, what the files are is on record at the place that is left, the branch's own
entries are appended where it began, files are brought, and what they are then is on record as of
`checkout --files`. Without a trunk a session of the folder is made of the branch's. Read next:
explore/picking.py, agent/files/rewinding.py.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from msgspec import Struct

from agentsh.agent.turn.recorder import Recorder
from agentsh.cli.assembly.safety import keeping
from agentsh.cli.lookup.choosing import opened
from agentsh.cli.lookup.explorations import Explorations, LookedAt
from agentsh.cli.notices import warn
from agentsh.errors import ExplorationError
from agentsh.explore.log.facts import PickFact
from agentsh.explore.log.folder import RunLock, open_exploration
from agentsh.explore.log.state import BranchRow
from agentsh.explore.picking import FilePick, bring_files, own_entries, plan_pick
from agentsh.session.exchange.fork import fork_session
from agentsh.session.exchange.replanting import replant
from agentsh.session.file.session import Session, open_session
from agentsh.session.format.entries import EntryId
from agentsh.session.format.facts import Checkpoint


class PickWish(Struct, frozen=True):
    files: bool
    overwrite: bool
    dry_run: bool
    yes: bool


class PickDone(Struct, frozen=True):
    """`files`: (path, create | change | delete)."""

    session: str | None
    path: str | None
    leaf: str | None
    files: tuple[tuple[str, str], ...]
    notices: tuple[str, ...]


def pick_branch(explorations: Explorations, looked: LookedAt, n: int, wish: PickWish) -> PickDone:
    """Raises ExplorationError: it does not fit, or runs; SessionLockedError, ToolFailedError."""
    row = looked.now.row(n)
    if row.started is None or not row.started.path:
        raise ExplorationError(f"branch {n} has no session: it is {row.status}")
    results = explorations.results(looked)
    plan = plan_pick(results.git, results.store, looked.now, row) if wish.files else None
    if wish.dry_run:
        return PickDone(None, None, None, () if plan is None else plan.changed, _preview(plan))
    if plan is not None and not wish.overwrite:
        plan.must_fit()
    running = RunLock(looked.folders)
    try:
        session, name, leaf = _moved(explorations, looked, row, plan)
        log = open_exploration(looked.folders)
        try:
            log.note(PickFact(n, name, leaf))
        finally:
            log.close()
    finally:
        running.release()
    return PickDone(name, session, leaf, () if plan is None else plan.changed, ())


def _moved(
    explorations: Explorations, looked: LookedAt, row: BranchRow, plan: FilePick | None
) -> tuple[str, str, str | None]:
    """(path, id, leaf) of the session that the branch is in now."""
    assert row.started is not None  # the caller has looked
    trunk = looked.now.plan.trunk
    folder = Path(looked.now.plan.folder)
    with open_session(Path(row.started.path), write=False) as branch:
        if trunk is None:
            path = fork_session(branch, branch.leaf, explorations.store, cwd=str(folder))
            session = opened(explorations.paths, path, folder).session
            parent: EntryId | None = session.leaf
            entries = []
        else:
            session = opened(explorations.paths, Path(trunk.path), folder).session
            parent = None if trunk.leaf is None else EntryId(trunk.leaf)
            entries = list(own_entries(branch, trunk.leaf))
        try:
            bring = (
                None if plan is None or not plan.rows else _Bringing(explorations, session, folder)
            )
            if bring is not None:
                bring.leave()
            replant(branch, entries, session, parent)
            session.barrier()
            if bring is not None and plan is not None:
                bring_files(plan)
                bring.arrive()
            return str(session.path), session.header.id, session.leaf
        finally:
            session.close()


class _Bringing:
    """The states of the folder's files, on record before and after."""

    def __init__(self, explorations: Explorations, session: Session, folder: Path) -> None:
        self._recorder = Recorder(session, time.time, lambda notice: warn([notice.text]))
        self._checkpointer = keeping(explorations.paths, os.environ, folder)()
        self._store = self._checkpointer.store

    def leave(self) -> None:
        self._record("left")

    def arrive(self) -> None:
        self._record("restored")

    def _record(self, when: str) -> None:
        state = self._checkpointer.take(self._store)
        if when == "left":
            fact = Checkpoint(state.commit, self._store, state.left_out, "left")
        else:
            fact = Checkpoint(state.commit, self._store, state.left_out, "restored")
        self._recorder.fact(fact)
        self._recorder.settle()


def _preview(plan: FilePick | None) -> tuple[str, ...]:
    if plan is None:
        return ()
    lines = [f"{kind}: {path}" for path, kind in plan.changed]
    return (*lines, *(f"changed here since: {path}" for path in plan.conflicts))
