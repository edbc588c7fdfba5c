"""What branches changed, read from the exploration's store as patches.

It stands alone since it only reads, and picking and running write.
Read next: capture.py, picking.py.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from msgspec import Struct

from agentsh.errors import ExplorationError
from agentsh.explore.log.state import BranchRow, Exploration
from agentsh.explore.workspace.capture import ResultStore
from agentsh.explore.workspace.gitcalls import GitCalls


class BranchResults(Struct, frozen=True):
    """The store of one exploration."""

    git: GitCalls
    store: Path

    def patch(self, exploration: Exploration, row: BranchRow) -> bytes:
        """From the base to the branch; nothing, where it changed nothing or never ended."""
        if row.capture is None:
            return b""
        return self._store().patch(exploration.base_of(row).commit, row.capture.commit)

    def patch_text(self, exploration: Exploration, row: BranchRow) -> str:
        """The same for JSON, where every byte of it must be text."""
        if row.capture is None:
            return ""
        return self._store().patch_text(exploration.base_of(row).commit, row.capture.commit)

    def patch_between(self, one: BranchRow, other: BranchRow) -> bytes:
        """Raises ExplorationError: one of them has no result."""
        return self._store().patch(_commit(one), _commit(other))

    def patch_to_folder(self, exploration: Exploration, row: BranchRow) -> bytes:
        """From the branch to the folder as it is now, of the files that it or the base has."""
        base = exploration.base_of(row)
        with tempfile.TemporaryDirectory(prefix="agentsh-") as folder:
            index = Path(folder) / "index"
            root = Path(base.root)
            run = self.git.store
            run(self.store, root, index, "read-tree", _commit(row))
            run(self.store, root, index, "add", "-u", "--", ".")
            tree = run(self.store, root, index, "write-tree").decode("ascii").strip()
            return self._store().patch(_commit(row), tree)

    def _store(self) -> ResultStore:
        return ResultStore(self.git, self.store, self.store / "index")


def _commit(row: BranchRow) -> str:
    if row.capture is None:
        raise ExplorationError(f"branch {row.n} has no result yet: it is {row.status}")
    return row.capture.commit
