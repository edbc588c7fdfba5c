"""`explore pick`, put together: what fits is known first, then the session, then the files.

The trunk is locked, what the files are is on record at the place that is left, the branch's own
entries are appended where it began, files are brought, and what they are then is on record as of
`checkout --files`. Without a trunk a session of the folder is made of the branch's, once: what is
picked later goes into it, too, and what is there already is moved to. Read next:
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
from agentsh.cli.lookup.finding import is_archived
from agentsh.cli.notices import warn
from agentsh.errors import ExplorationError, SessionNotFoundError
from agentsh.explore.log.facts import PickFact
from agentsh.explore.log.folder import RunLock, open_exploration
from agentsh.explore.picking import FilePick, bring_files, own_entries, plan_pick
from agentsh.files import is_regular
from agentsh.session.exchange.fork import fork_session
from agentsh.session.exchange.replanting import replant
from agentsh.session.file.session import Session, open_session
from agentsh.session.format.entries import Entry, EntryId
from agentsh.session.format.facts import Checkpoint


class PickWish(Struct, frozen=True):
    files: bool
    overwrite: bool
    dry_run: bool


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
    changed = () if plan is None else plan.changed
    if wish.dry_run:
        return PickDone(None, None, None, changed, _preview(plan))
    if plan is not None and not wish.overwrite:
        plan.must_fit()
    running = RunLock(looked.folders)
    try:
        with open_session(Path(row.started.path), write=False) as branch:
            path, fact = _moved(explorations, looked, branch, n, plan)
        log = open_exploration(looked.folders)
        try:
            log.note(fact)
        finally:
            log.close()
    finally:
        running.release()
    return PickDone(fact.session, path, fact.leaf, changed, ())


class _Target(Struct, frozen=True):
    """The session that a branch goes into, open for writing.

    `there`: where its entries end in it, if they were brought before; else `entries` go below
    `parent`.
    """

    session: Session
    parent: EntryId | None
    entries: tuple[Entry, ...] = ()
    there: EntryId | None = None


def _moved(
    explorations: Explorations, looked: LookedAt, branch: Session, n: int, plan: FilePick | None
) -> tuple[str, PickFact]:
    """The path of the session that the branch is in now, and what is to be on record."""
    folder = Path(looked.now.plan.folder)
    target = _target(explorations, looked, branch, n)
    session = target.session
    try:
        bring = _Bringing(explorations, session, folder) if plan is not None and plan.rows else None
        if bring is not None:
            bring.leave()
        if target.there is None:
            replant(branch, target.entries, session, target.parent)
        elif session.leaf != target.there:
            session.move(target.there, "tree", durably=False)
        session.barrier()
        if bring is not None and plan is not None:
            bring_files(plan)
            bring.arrive()
        return str(session.path), PickFact(n, session.header.id, session.leaf, branch.leaf)
    finally:
        session.close()


def _target(explorations: Explorations, looked: LookedAt, branch: Session, n: int) -> _Target:
    """Its trunk, or the session that an earlier pick made; else one that is made of the branch."""
    plan, picks = looked.now.plan, looked.now.picks
    folder, trunk = Path(plan.folder), plan.trunk
    sessions = {pick.session: "" for pick in reversed(picks)}
    if trunk is not None:
        sessions = {trunk.session: trunk.path, **sessions}
    for name, path in sessions.items():
        file = _file_of(explorations, name, path)
        if file is None:
            continue
        session = opened(explorations.paths, file, folder).session
        for pick in reversed(picks):
            there = _entry(session, pick.leaf)
            if (pick.n, pick.session, pick.taken) == (n, name, branch.leaf) and there is not None:
                return _Target(session, None, there=there)
        leaf = None if trunk is None else trunk.leaf
        return _Target(session, _entry(session, leaf), tuple(own_entries(branch, leaf)))
    made = fork_session(branch, branch.leaf, explorations.store, cwd=str(folder))
    session = opened(explorations.paths, made, folder).session
    return _Target(session, session.leaf)


def _entry(session: Session, name: str | None) -> EntryId | None:
    """That entry, if the session has it."""
    return EntryId(name) if name is not None and EntryId(name) in session.tree else None


def _file_of(explorations: Explorations, name: str, path: str) -> Path | None:
    """Where that session lies now; None: it is gone. Raises ExplorationError: it is archived."""
    if path and is_regular(path):
        return Path(path)
    try:
        return explorations.store.find(name, str(explorations.cwd))
    except SessionNotFoundError as e:
        if is_archived(explorations.store, name):
            raise ExplorationError(
                f"the session {name} that it would go into is archived",
                hint=f"`agentsh sessions unarchive {name}` brings it back",
            ) from e
        return None


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
