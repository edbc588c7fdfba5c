"""The working folder's keeper: records its state, compares states, brings one back.

One store a folder, named by the folder's real path, below one folder for all stores. What is
agentsh's own is left alone wherever it lies (a session file that went back to an older state would
lose what was said since). A state is known by (store, commit), which is what a session's facts
hold. It decides nothing: agent/checkpoints.py says when, agent/filestates.py which.
Read next: checkpoint.py, undo.py.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping
from pathlib import Path

from msgspec import Struct

from agentsh.abort import Abort
from agentsh.errors import ToolFailedError
from agentsh.tools import undo
from agentsh.tools.checkpoint import Checkpointed, snapshot
from agentsh.tools.shadow import Shadow
from agentsh.tools.undo import Change, Preview, Restored


class Keeper(Struct, frozen=True):
    """`own`: agentsh's folders. `environ`: where git is found."""

    tree: Path
    stores: Path
    environ: Mapping[str, str]
    own: tuple[Path, ...] = ()

    @property
    def store(self) -> str:
        """The name of this folder's store."""
        return hashlib.sha256(os.fsencode(os.path.realpath(self.tree))).hexdigest()[:32]

    def has(self, store: str) -> bool:
        """Whether states of that store can be had."""
        return store.isalnum() and (self.stores / store / "HEAD").exists()

    def take(self, store: str, abort: Abort | None = None) -> Checkpointed:
        """Record the present state. Raises ToolError: there is no git, it is too much, stopped."""
        self._must_be_a_project()
        return snapshot(self._shadow(store, abort))

    def difference(self, store: str, old: str, new: str) -> tuple[Change, ...]:
        return undo.difference(self._shadow(store), old, new)

    def patch(self, store: str, old: str, new: str) -> str:
        return undo.patch(self._shadow(store), old, new)

    def preview(
        self, store: str, commit: str, *, last: str | None, foreign: Collection[str]
    ) -> Preview:
        """What `restore` would do. Raises ToolFailedError."""
        self._must_be_a_project()
        return undo.preview(self._shadow(store), commit, last=last, foreign=foreign)

    def restore(
        self,
        store: str,
        commit: str,
        *,
        last: str | None,
        foreign: Collection[str],
        overwrite: bool,
    ) -> Restored:
        """Bring that state back. Raises ToolFailedError; the state before is recorded by then."""
        self._must_be_a_project()
        return undo.restore(
            self._shadow(store), commit, last=last, foreign=foreign, overwrite=overwrite
        )

    def _shadow(self, store: str, abort: Abort | None = None) -> Shadow:
        return Shadow(
            Path(os.path.realpath(self.stores / store)),
            Path(os.path.realpath(self.tree)),
            self.environ,
            tuple(Path(os.path.realpath(path)) for path in self.own),
            abort,
        )

    def _must_be_a_project(self) -> None:
        """A home or the root of the file system is no folder to copy and to bring back."""
        tree = Path(os.path.realpath(self.tree))
        home = self.environ.get("HOME")
        if tree == Path("/") or (home and tree == Path(os.path.realpath(home))):
            raise ToolFailedError(f"{tree} is no project folder, so there are no checkpoints of it")
        if tree in {Path(os.path.realpath(path)) for path in self.own}:
            raise ToolFailedError(f"{tree} is agentsh's own, so there are no checkpoints of it")
        if not tree.is_dir():
            raise ToolFailedError(f"the folder is gone: {tree}")
