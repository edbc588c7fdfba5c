"""Bring the working folder back to a checkpoint: preview first, conflicts never overwritten.

Before anything is touched the present state is recorded too, so that going back can be undone. A
file is in conflict when somebody else changed it after the agent's last known state (`last`) or
earlier (`foreign`), or when something that no checkpoint holds (an ignored or a large file) is in
its way; it is left alone unless `overwrite` says otherwise. What the agent overwrote (`before`) and
no checkpoint holds cannot be brought back, and is named. Read next: restoring.py, states.py.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path, PurePosixPath

from msgspec import Struct

from agentsh.errors import GitRefusedError
from agentsh.files import is_folder
from agentsh.tools.base import PreImage
from agentsh.tools.undo.checkpoint import take
from agentsh.tools.undo.restoring import ChangeKind, Row, put_back, take_away
from agentsh.tools.undo.shadow import Shadow, healed, state_name
from agentsh.tools.undo.statenotes import notes_of
from agentsh.tools.undo.states import patch_of, rows_between
from agentsh.tools.undo.unheld import unheld


class Change(Struct, frozen=True):
    """What is to happen to one path (relative to the folder, else absolute).

    `conflict`: why it is not done. `held` False: no state holds it, so nothing can do it.
    """

    path: str
    kind: ChangeKind
    conflict: str | None = None
    held: bool = True


class Preview(Struct, frozen=True):
    """`now` is the commit of the present state, taken for this.

    `left_out`: how many paths that state does not hold. `renewed`: the store was damaged.
    """

    now: str
    changes: tuple[Change, ...]
    left_out: int = 0
    renewed: bool = False


class Restored(Struct, frozen=True):
    """`saved` is the state before, to go back to; `skipped` are the conflicts.

    `failed`: what the system refused in the middle, with its reason; each file is as it was before
    or as it shall be, and the same restore does the rest.
    """

    saved: str
    done: tuple[Change, ...]
    skipped: tuple[Change, ...]
    failed: tuple[Change, ...] = ()


class _Plan(Struct, frozen=True):
    """A preview with the rows to do it by."""

    shown: Preview
    rows: dict[str, Row]
    renewed: bool = False


def preview_restore(
    shadow: Shadow,
    commit: str,
    *,
    last: str | None = None,
    foreign: Collection[str] = (),
    before: Sequence[PreImage] = (),
) -> Preview:
    """What `restore_files` would do. Writes to the store only. Raises ToolFailedError."""
    with shadow.locked():
        plan = healed(shadow, lambda: _plan(shadow, commit, last, foreign, before))
    shown = plan.shown
    return Preview(shown.now, shown.changes, shown.left_out, plan.renewed)


def restore_files(
    shadow: Shadow,
    commit: str,
    *,
    last: str | None = None,
    foreign: Collection[str] = (),
    before: Sequence[PreImage] = (),
    overwrite: bool = False,
) -> Restored:
    """Make the folder as it was at `commit`. Raises ToolFailedError before anything is touched.

    `last` is the checkpoint taken when the agent had last changed something: what differs from it
    now is somebody else's work, and so are the paths in `foreign`.
    """
    with shadow.locked():
        plan = healed(shadow, lambda: _plan(shadow, commit, last, foreign, before))
        changes = plan.shown.changes
        chosen = [c for c in changes if c.held and (overwrite or c.conflict is None)]
        going = [plan.rows[c.path] for c in chosen if c.kind == "delete"]
        coming = [plan.rows[c.path] for c in chosen if c.kind != "delete"]
        refused = {**take_away(shadow.tree, going), **put_back(shadow, coming)}
    done = tuple(c for c in chosen if c.path not in refused)
    failed = tuple(Change(c.path, c.kind, refused[c.path]) for c in chosen if c.path in refused)
    skipped = tuple(c for c in changes if c not in chosen)
    return Restored(plan.shown.now, done, skipped, failed)


def changes_between(shadow: Shadow, old: str, new: str) -> tuple[Change, ...]:
    """Which files two checkpoints have different."""
    rows = rows_between(shadow, state_name(old), state_name(new))
    return tuple(Change(os.fsdecode(row.path), row.kind) for row in rows)


def patch(shadow: Shadow, old: str, new: str) -> str:
    """The same as a patch."""
    return patch_of(shadow, state_name(old), state_name(new))


def _plan(
    shadow: Shadow,
    commit: str,
    last: str | None,
    foreign: Collection[str],
    before: Sequence[PreImage],
) -> _Plan:
    state_name(commit)
    taken = take(shadow)
    now = taken.commit
    _must_have(shadow, commit)
    theirs = set(foreign)
    if last is not None:
        theirs.update(c.path for c in changes_between(shadow, state_name(last), now))
    rows_by_path = {os.fsdecode(row.path): row for row in rows_between(shadow, now, commit)}
    rows = {path: row for path, row in rows_by_path.items() if not shadow.is_apart(path)}
    going = {path for path, row in rows.items() if row.kind == "delete" and path not in theirs}
    left_out = [os.fsdecode(p) for p in notes_of(shadow, commit).left_out] if going else []
    hidden = _hidden(going, left_out)
    going -= hidden
    changes = []
    for path, row in rows.items():
        why = None
        if path in theirs:
            why = "changed by somebody else since"
        elif path in hidden:
            why = "it was there before, ignored or large, and so not recorded"
        elif row.kind == "create":
            why = _in_the_way(shadow.tree, path, going)
        changes.append(Change(path, row.kind, why))
    lost = unheld(shadow, (now, commit), rows, before)
    changes += [Change(each.path, each.kind, each.reason, held=False) for each in lost]
    return _Plan(Preview(now, tuple(changes), taken.left_out), rows)


def _must_have(shadow: Shadow, commit: str) -> None:
    try:
        shadow.look("cat-file", "-e", f"{commit}^{{tree}}")
    except GitRefusedError as e:
        reason = "that state of the files cannot be read: it is on another machine, or was lost"
        raise GitRefusedError(reason) from e


def _hidden(paths: Collection[str], left_out: Collection[str]) -> frozenset[str]:
    """Those of `paths` that were there, but not recorded.

    The left-out path may be a folder of theirs.
    """
    hidden = {name.rstrip("/") for name in left_out}
    return frozenset(
        path
        for path in paths
        if path in hidden or any(str(parent) in hidden for parent in PurePosixPath(path).parents)
    )


def _in_the_way(tree: Path, path: str, going: set[str]) -> str | None:
    """What is in the way of a file to be made and in no checkpoint: it would be lost."""
    target = tree / path
    for parent in reversed(PurePosixPath(path).parents[:-1]):
        if is_folder(tree / parent, follow=False):
            continue
        if str(parent) not in going and os.path.lexists(tree / parent):
            return f"{parent} is in the way, and it stays"
        return None  # nothing is there, or what is there goes
    if is_folder(target, follow=False):
        for folder, folders, names in os.walk(target):
            links = [name for name in folders if not is_folder(Path(folder, name), follow=False)]
            inside = (os.path.relpath(f"{folder}/{name}", tree) for name in (*names, *links))
            lost = next((name for name in inside if name not in going), None)
            if lost is not None:
                return f"{lost} is in the way, and checkpoints leave it out"
        return None
    if os.path.lexists(target) and path not in going:
        return "there is a file that checkpoints leave out (ignored or large)"
    return None
