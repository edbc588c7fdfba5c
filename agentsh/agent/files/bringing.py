"""Brings what a branch changed to the working files, where it fits: what `pick --files` does.

A change fits where the file is as it was where the branches part, or has the change already. If one
does not, nothing is touched, and the files are named. What the files were is on record before
anything happens. Read next: rewinding.py, filestates.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from agentsh.agent.files.checkpoints import SHOWN
from agentsh.agent.files.filestates import state_at
from agentsh.agent.turn.recorder import Recorder
from agentsh.errors import RefusedError, ToolFailedError
from agentsh.session.format.entries import EntryId
from agentsh.session.format.facts import Checkpoint

if TYPE_CHECKING:  # git's plumbing comes along
    from agentsh.tools.undo.checkpointer import Checkpointer


class Brought(Struct, frozen=True):
    """What is to be brought: the state that has it, and the paths. `now`: what the files are."""

    store: str
    commit: str
    now: str
    paths: frozenset[str]
    others: frozenset[str]
    """What differs from that state and is not the branch's change."""


def plan_changes(recorder: Recorder, checkpointer: Checkpointer, target: EntryId) -> Brought | None:
    """What the branch that ends at `target` changed since it parted from the path.

    None: no file. Raises RefusedError: a change does not fit, or no state is on record.
    """
    session = recorder.session
    parted = session.tree.common_ancestor(session.leaf, target)
    old, new = state_at(session, parted), state_at(session, target)
    if old is None or new is None or old.fact.store != new.fact.store:
        raise RefusedError("the states of the files of that branch are not on record")
    store, base, commit = new.fact.store, old.fact.commit, new.fact.commit
    if not checkpointer.has(store):
        raise RefusedError("the recorded states of the files are gone, or on another machine")
    now = checkpointer.take(store).commit
    missing = {c.path for c in checkpointer.difference(store, now, commit)}
    changed = {c.path for c in checkpointer.difference(store, base, commit)}
    moved_on = {c.path for c in checkpointer.difference(store, base, now)}
    brought = missing & changed
    others = frozenset(missing - changed)
    shown = checkpointer.preview(store, commit, last=None, foreign=others, before=())
    in_the_way = {c.path for c in shown.changes if c.conflict is not None and c.path in brought}
    unfit = sorted((brought & moved_on) | in_the_way)
    if unfit:
        more = f" and {len(unfit) - SHOWN} more" if len(unfit) > SHOWN else ""
        raise RefusedError(
            f"the branch's changes do not fit: {', '.join(unfit[:SHOWN])}{more} changed here, too",
            hint="nothing was touched; bring those files to where the branches part, or leave out"
            " --files",
        )
    return Brought(store, commit, now, frozenset(brought), others) if brought else None


def bring_changes(recorder: Recorder, checkpointer: Checkpointer, plan: Brought) -> tuple[str, ...]:
    """Do it, and put it on record; what was done, in words. Raises ToolFailedError."""
    recorder.fact(Checkpoint(plan.now, plan.store, when="left"))
    recorder.settle()
    done = checkpointer.restore(
        plan.store, plan.commit, last=None, foreign=plan.others, before=(), overwrite=False
    )
    after = checkpointer.take(plan.store)
    recorder.fact(Checkpoint(after.commit, plan.store, after.left_out, "restored"))
    recorder.settle()
    if done.failed:
        some = "; ".join(f"{c.path}: {c.conflict}" for c in done.failed[:SHOWN])
        raise ToolFailedError(f"not all files could be brought: {some}; the same again does them")
    verbs = {"create": "created", "change": "changed", "delete": "deleted"}
    return tuple(f"{verbs[c.kind]}: {c.path}" for c in done.done)
