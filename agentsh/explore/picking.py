"""A branch's result into the folder and the trunk: what fits, what is done, what goes on record.

A file that the branch changed is taken where the folder's file is as it was in the base, or has the
change already; else it is a conflict, all of them are named, and nothing is changed. Files are
written by undo's hands: links as links, nothing through one. The branch's own entries go below the
place that it began from, with their ids, times and stamps. Read next: results.py,
tools/undo/restoring.py.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from agentsh.errors import ExplorationError, ToolFailedError
from agentsh.explore.log.state import BranchRow, Exploration
from agentsh.explore.workspace.capture import ResultStore
from agentsh.explore.workspace.gitcalls import GitCalls
from agentsh.session.file.session import Session
from agentsh.session.format.entries import Entry, EntryId
from agentsh.session.format.factcodec import name_of
from agentsh.session.format.facts import Opened, Origin
from agentsh.tools.undo import restoring
from agentsh.tools.undo.shadow import Shadow
from agentsh.tools.undo.states import rows_between

_LOCAL = (name_of(Origin), name_of(Opened))
"""What is true of one file alone."""
_SHOWN = 20


class FilePick(Struct, frozen=True):
    """What picking does to the files below `root`. `changed`: (path, create | change | delete)."""

    shadow: Shadow
    rows: tuple[restoring.Row, ...]
    changed: tuple[tuple[str, str], ...]
    conflicts: tuple[str, ...]

    def must_fit(self) -> None:
        """Raises ExplorationError that names every conflict."""
        if self.conflicts:
            more = len(self.conflicts) - _SHOWN
            names = ", ".join(self.conflicts[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
            raise ExplorationError(
                f"changed here since the exploration began: {names}; nothing was changed",
                hint="--overwrite takes the branch's",
            )


def plan_pick(git: GitCalls, store: Path, exploration: Exploration, row: BranchRow) -> FilePick:
    """Raises ToolFailedError, ExplorationError: the branch has no result."""
    if row.capture is None:
        raise ExplorationError(f"branch {row.n} has no result yet: it is {row.status}")
    base, root = exploration.base_of(row), Path(exploration.base_of(row).root)
    shadow = Shadow(store, root, git.environ)
    results = ResultStore(git, store, store / "index")  # the log spells names as text
    differing, _, _ = results.differences(base.commit, row.capture.commit)
    paths = [os.fsencode(path) for path, _ in differing]
    now = _state_now(git, store, root, base.commit, paths)
    rows = rows_between(shadow, now, row.capture.commit)
    moved_on = {each.path for each in rows_between(shadow, base.commit, now)}
    conflicts = tuple(os.fsdecode(each.path) for each in rows if each.path in moved_on)
    return FilePick(shadow, tuple(rows), row.capture.changed, conflicts)


def bring_files(plan: FilePick) -> None:
    """Raises ToolFailedError: the system refused some; the same again does the rest."""
    going = [row for row in plan.rows if row.kind == "delete"]
    coming = [row for row in plan.rows if row.kind != "delete"]
    refused = {
        **restoring.take_away(plan.shadow.tree, going),
        **restoring.put_back(plan.shadow, coming),
    }
    if refused:
        some = "; ".join(f"{path}: {why}" for path, why in list(refused.items())[:_SHOWN])
        raise ToolFailedError(f"not all files could be brought: {some}; the same again does them")


def own_entries(branch: Session, seeded: str | None) -> Sequence[Entry]:
    """What the branch added to its seed, in the order of its path. `seeded`: the trunk's leaf."""
    entries = branch.branch().entries
    ids = [entry.id for entry in entries]
    start = ids.index(EntryId(seeded)) + 1 if seeded is not None and seeded in ids else 0
    return [
        entry for entry in entries[start:] if getattr(entry.body, "custom_type", None) not in _LOCAL
    ]


def _state_now(git: GitCalls, store: Path, root: Path, base: str, paths: Sequence[bytes]) -> str:
    """The base with those paths as the folder has them, as a commit of the store."""
    with tempfile.TemporaryDirectory(prefix="agentsh-") as folder:
        index = Path(folder) / "index"
        git.store(store, root, index, "read-tree", base)
        ResultStore(git, store, index).bring_up(root, index, paths)
        return ResultStore(git, store, index).commit_of(root, index, base)
