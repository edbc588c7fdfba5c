"""Bring the working files back to how they were at a place of the tree.

What somebody else changed since that state was recorded is a conflict: shown, and left alone unless
told otherwise. What the files are now is on record before anything is touched, at the place that is
left, so that going back can be taken back. Words for the person are made here, too; asking is the
frontend's. Read next: filestates.py, checkpoints.py, tools/undo.py.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from agentsh.agent.checkpoints import SHOWN, Checkpoints, Keeper
from agentsh.agent.filestates import FileState, has_changed, state_at, timeline
from agentsh.agent.moving import destination
from agentsh.agent.recorder import Recorder
from agentsh.errors import RefusedError
from agentsh.session.entries import EntryId
from agentsh.session.facts import Checkpoint

if TYPE_CHECKING:  # git's plumbing comes along, which most runs never need
    from agentsh.tools.undo import Change


class FilePlan(Struct, frozen=True):
    """What bringing the files back to a place would do. `state` None: the agent changed nothing."""

    state: FileState | None
    now: str | None = None
    last: str | None = None
    foreign: frozenset[str] = frozenset()
    changes: tuple[Change, ...] = ()

    @property
    def conflicts(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.conflict is not None)

    @property
    def doable(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.conflict is None)

    def lines(self) -> tuple[str, ...]:
        """For a person who is asked."""
        if self.state is None:
            return ("the agent has changed no files there: nothing to bring back",)
        if not self.changes:
            return ("the files are as they were there already",)
        inexact = () if self.state.exact else (_INEXACT,)
        return (*change_lines(self.doable, done=False), *conflict_lines(self.conflicts), *inexact)


_INEXACT = "the exact state there was not recorded; this is the last one that was, before it"


class Rewinder:
    """Brings files back in one session's folder."""

    def __init__(self, recorder: Recorder, checkpoints: Checkpoints) -> None:
        self._recorder = recorder
        self._checkpoints = checkpoints

    def plan(self, target: EntryId | None) -> FilePlan:
        """What would happen; a user message means before it.

        Raises RefusedError: that state is not recorded; ToolFailedError.
        """
        session = self._recorder.session
        place = None if target is None else destination(session.entry(target))[0]
        state = state_at(session, place)
        if state is None:
            if has_changed(session):
                raise RefusedError(
                    "the state of the files there was not recorded",
                    hint="without the files, only the conversation moves",
                )
            return FilePlan(None)
        store, commit = state.fact.store, state.fact.commit
        if not self._keeper.has(store):
            raise RefusedError("the recorded states of the files are gone, or on another machine")
        foreign, last = self._changed_by_others(state)
        found = self._keeper.preview(store, commit, last=last, foreign=foreign)
        return FilePlan(state, found.now, last, frozenset(foreign), found.changes)

    def leave(self, plan: FilePlan) -> None:
        """Put what the files are now on record, at the place that is about to be left."""
        if plan.state is not None and plan.now is not None:
            self._recorder.fact(Checkpoint(plan.now, plan.state.fact.store, when="left"))
            self._recorder.settle()

    def bring_back(self, plan: FilePlan, *, overwrite: bool = False) -> tuple[str, ...]:
        """Do it, and put it on record here; what was done, in words. Raises ToolFailedError."""
        if plan.state is None:
            return plan.lines()
        store, commit = plan.state.fact.store, plan.state.fact.commit
        done = self._keeper.restore(
            store, commit, last=plan.last, foreign=plan.foreign, overwrite=overwrite
        )
        after = self._keeper.take(store)
        self._recorder.fact(Checkpoint(after.commit, store, after.left_out, "restored"))
        self._recorder.settle()
        words = change_lines(done.done, done=True) or ("no files were changed",)
        inexact = () if plan.state.exact else (_INEXACT,)
        kept = after.left_out
        ignored = (f"as they are: {kept} ignored or large paths",) if kept else ()
        return (*words, *conflict_lines(done.skipped), *inexact, *ignored)

    def restore(self, target: EntryId | None, *, overwrite: bool = False) -> tuple[str, ...]:
        """The files only; the conversation stays where it is."""
        plan = self.plan(target)
        self.leave(plan)
        return self.bring_back(plan, overwrite=overwrite)

    def _changed_by_others(self, state: FileState) -> tuple[set[str], str | None]:
        """The paths that somebody else changed after that state, up to the last recorded one."""
        foreign: set[str] = set()
        facts = timeline(self._recorder.session, state.entry)
        facts = tuple(fact for fact in facts if fact.store == state.fact.store)
        for old, new in pairwise(facts):
            if old.commit == new.commit or new.when in ("step", "end"):
                continue
            paths = {c.path for c in self._keeper.difference(new.store, old.commit, new.commit)}
            if new.when == "restored":
                foreign -= paths  # whoever went back has seen them
            else:
                foreign |= paths
        return foreign, facts[-1].commit if facts else None

    @property
    def _keeper(self) -> Keeper:
        return self._checkpoints.keeper


_DOES = {"create": "create", "change": "change back", "delete": "delete"}
_DID = {"create": "created again", "change": "changed back", "delete": "deleted"}


def change_lines(changes: Collection[Change], *, done: bool) -> tuple[str, ...]:
    """One line a file, the first SHOWN of them."""
    words = _DID if done else _DOES
    lines = [f"{words[change.kind]}: {change.path}" for change in list(changes)[:SHOWN]]
    return (*lines, *_more(len(changes)))


def conflict_lines(conflicts: Collection[Change]) -> tuple[str, ...]:
    lines = [f"left alone: {c.path}: {c.conflict}" for c in list(conflicts)[:SHOWN]]
    return (*lines, *_more(len(conflicts)))


def _more(count: int) -> tuple[str, ...]:
    return (f"… and {count - SHOWN} more files",) if count > SHOWN else ()
