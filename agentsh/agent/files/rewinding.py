"""Bring the working files back to how they were at a place of the tree.

What somebody else changed since that state was recorded is a conflict: shown, and left alone unless
told otherwise. What the files are now is on record before anything is touched, at the place that is
left, so that going back can be taken back. Words for the person are made here, too; asking is the
frontend's. Read next: filestates.py, checkpoints.py, tools/undo/undo.py.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from agentsh.agent.files.checkpoints import RENEWED, SHOWN, Checkpoints
from agentsh.agent.files.filestates import (
    Calls,
    FileState,
    calls_since,
    has_changed,
    state_at,
    timeline,
)
from agentsh.agent.moving import destination
from agentsh.agent.turn.recorder import Recorder
from agentsh.errors import RefusedError, ToolError, ToolFailedError
from agentsh.session.format.entries import EntryId
from agentsh.session.format.facts import Checkpoint

if TYPE_CHECKING:  # git's plumbing comes along, which most runs never need
    from agentsh.tools.undo.checkpointer import Checkpointer
    from agentsh.tools.undo.undo import Change, Restored


class FilePlan(Struct, frozen=True):
    """What bringing the files back to a place would do. `state` None: the agent changed nothing."""

    state: FileState | None
    now: str | None = None
    last: str | None = None
    foreign: frozenset[str] = frozenset()
    changes: tuple[Change, ...] = ()
    calls: Calls = Calls((), False)
    """What the agent did since that state."""
    left_out: int = 0
    """How many paths the present state does not hold."""
    renewed: bool = False

    @property
    def conflicts(self) -> tuple[Change, ...]:
        """What could be done, and is not unless it is to be overwritten."""
        return tuple(c for c in self.changes if c.held and c.conflict is not None)

    @property
    def lost(self) -> tuple[Change, ...]:
        """What the agent changed and no state holds: nothing can bring it back."""
        return tuple(change for change in self.changes if not change.held)

    @property
    def doable(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.conflict is None)

    def lines(self) -> tuple[str, ...]:
        """For a person who is asked."""
        if self.state is None:
            return ("the agent has changed no files there: nothing to bring back",)
        renewed = (RENEWED,) if self.renewed else ()
        same = () if self.changes else (_SAME,)
        return (
            *renewed,
            *same,
            *change_lines(self.doable, done=False),
            *conflict_lines(self.conflicts),
            *lost_lines(self.lost),
            *self.limits,
        )

    @property
    def limits(self) -> tuple[str, ...]:
        """What nobody can tell of that place."""
        assert self.state is not None
        inexact = () if self.state.exact else (_INEXACT,)
        unseen = self.calls.ran and self.left_out
        ignored = (f"not recorded, and left as they are: {self.left_out} {_KINDS_LEFT_OUT}",)
        return (*inexact, *(ignored if unseen else ()))


_SAME = "the files are as they were there already"
_KINDS_LEFT_OUT = "ignored or large paths (a command ran that may have changed them)"
_INEXACT = "the exact state there was not recorded; this is the last one that was, before it"


class Rewinder:
    """Brings files back in one session's folder."""

    def __init__(self, recorder: Recorder, checkpoints: Checkpoints) -> None:
        self.recorder = recorder
        self._checkpoints = checkpoints

    @property
    def checkpointer(self) -> Checkpointer:
        """Raises RefusedError: the states of the files are not recorded here."""
        return self._checkpoints.checkpointer

    def plan(self, target: EntryId | None) -> FilePlan:
        """What would happen; a user message means before it.

        Raises RefusedError: that state is not recorded; ToolFailedError.
        """
        session = self.recorder.session
        leaf = None if target is None else destination(session.entry(target))[0]
        state = state_at(session, leaf)
        if state is None:
            if has_changed(session):
                raise RefusedError(
                    "the state of the files there was not recorded",
                    hint="without the files, only the conversation moves",
                )
            return FilePlan(None)
        store, commit = state.fact.store, state.fact.commit
        if not self._checkpointer.has(store):
            raise RefusedError("the recorded states of the files are gone, or on another machine")
        foreign, last = self._changed_by_others(state)
        calls = calls_since(session, state.entry)
        preview = self._checkpointer.preview(
            store, commit, last=last, foreign=foreign, before=calls.overwritten
        )
        return FilePlan(
            state,
            preview.now,
            last,
            frozenset(foreign),
            preview.changes,
            calls,
            preview.left_out,
            preview.renewed,
        )

    def leave(self, plan: FilePlan) -> None:
        """Put what the files are now on record, at the place that is about to be left."""
        if plan.state is not None and plan.now is not None:
            self.recorder.fact(Checkpoint(plan.now, plan.state.fact.store, when="left"))
            self.recorder.settle()

    def bring_back(self, plan: FilePlan, *, overwrite: bool = False) -> tuple[str, ...]:
        """Do it, and put it on record here; what was done, in words. Raises ToolFailedError."""
        if plan.state is None:
            return plan.lines()
        store, commit = plan.state.fact.store, plan.state.fact.commit
        done = self._checkpointer.restore(
            store,
            commit,
            last=plan.last,
            foreign=plan.foreign,
            before=plan.calls.overwritten,
            overwrite=overwrite,
        )
        failure = _failure(done)
        try:
            after = self._checkpointer.take(store)
        except ToolError as e:
            raise ToolFailedError(f"{failure}; {e}" if failure else str(e)) from e
        self.recorder.fact(Checkpoint(after.commit, store, after.left_out, "restored"))
        self.recorder.settle()
        if failure:
            raise ToolFailedError(failure)
        lines = change_lines(done.done, done=True) or ("no files were changed",)
        conflicts = [change for change in done.skipped if change.held]
        lost = [change for change in done.skipped if not change.held]
        return (*lines, *conflict_lines(conflicts), *lost_lines(lost), *plan.limits)

    def restore(self, target: EntryId | None, *, overwrite: bool = False) -> tuple[str, ...]:
        """The files only; the conversation stays where it is."""
        plan = self.plan(target)
        self.leave(plan)
        return self.bring_back(plan, overwrite=overwrite)

    def _changed_by_others(self, state: FileState) -> tuple[set[str], str | None]:
        """The paths that somebody else changed after that state, up to the last recorded one."""
        foreign: set[str] = set()
        facts = timeline(self.recorder.session, state.entry)
        facts = tuple(fact for fact in facts if fact.store == state.fact.store)
        for old, new in pairwise(facts):
            if old.commit == new.commit or new.when in ("step", "end"):
                continue
            paths = {
                c.path for c in self._checkpointer.difference(new.store, old.commit, new.commit)
            }
            if new.when == "restored":
                foreign -= paths  # whoever went back has seen them
            else:
                foreign |= paths
        return foreign, facts[-1].commit if facts else None

    @property
    def _checkpointer(self) -> Checkpointer:
        return self._checkpoints.checkpointer


_DOES = {"create": "create", "change": "change back", "delete": "delete"}
_DID = {"create": "created again", "change": "changed back", "delete": "deleted"}


def change_lines(changes: Collection[Change], *, done: bool) -> tuple[str, ...]:
    """One line a file, the first SHOWN of them."""
    verbs = _DID if done else _DOES
    lines = [f"{verbs[change.kind]}: {change.path}" for change in list(changes)[:SHOWN]]
    return (*lines, *_more(len(changes)))


def conflict_lines(conflicts: Collection[Change]) -> tuple[str, ...]:
    lines = [f"left alone: {c.path}: {c.conflict}" for c in list(conflicts)[:SHOWN]]
    return (*lines, *_more(len(conflicts)))


def lost_lines(lost: Collection[Change]) -> tuple[str, ...]:
    lines = [f"cannot be brought back: {c.path}: {c.conflict}" for c in list(lost)[:SHOWN]]
    return (*lines, *_more(len(lost)))


def _failure(done: Restored) -> str | None:
    """What the system refused. Whatever was done is done, and the same again does the rest."""
    if not done.failed:
        return None
    some = "; ".join(f"{c.path}: {c.conflict}" for c in done.failed[:SHOWN])
    more = f"; and {len(done.failed) - SHOWN} more" if len(done.failed) > SHOWN else ""
    return (
        f"{len(done.failed)} of {len(done.failed) + len(done.done)} files could not be brought"
        f" back, and are as they were ({some}{more}); the others are done: do it again for the rest"
    )


def _more(count: int) -> tuple[str, ...]:
    return (f"… and {count - SHOWN} more files",) if count > SHOWN else ()
