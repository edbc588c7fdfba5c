"""The working folder's checkpointer: records its state, compares states, brings one back.

One store a folder, named by the folder's real path, below one folder for all stores. What is
agentsh's own is left alone wherever it lies (a session file that went back to an older state would
lose what was said since). A state is known by (store, commit), which is what a session's facts
hold. It decides nothing: agent/files/checkpoints.py says when, agent/files/filestates.py which.
Read next: checkpoint.py, undo.py.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.errors import ToolFailedError
from agentsh.files import is_folder, is_there
from agentsh.jsontext import clean
from agentsh.tools.base import PreImage
from agentsh.tools.undo import undo
from agentsh.tools.undo.checkpoint import Checkpointed, snapshot
from agentsh.tools.undo.contents import StoreContents
from agentsh.tools.undo.shadow import Shadow
from agentsh.tools.undo.undo import Change, Preview, Restored
from agentsh.tools.undo.unheld import not_held

_STORE = re.compile(r"[0-9a-f]{1,64}")
"""A session file says which store; it may be a stranger's, and names no place."""


class Checkpointer(Struct, frozen=True):
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
        return bool(_STORE.fullmatch(store)) and is_there(self.stores / store / "HEAD")

    def take(self, store: str, abort: Abort | None = None) -> Checkpointed:
        """Record the present state. Raises ToolError: there is no git, it is too much, stopped."""
        self._must_be_a_project()
        return snapshot(self._shadow(store, abort))

    def difference(self, store: str, old: str, new: str) -> tuple[Change, ...]:
        return undo.changes_between(self._shadow(store), old, new)

    def not_held(
        self, store: str, commits: Sequence[str], files: Sequence[PreImage]
    ) -> tuple[str, ...]:
        """Those of the files that none of the states holds, each with the reason."""
        return not_held(self._shadow(store), commits, self._placed(files))

    def patch(self, store: str, old: str, new: str) -> str:
        return undo.patch(self._shadow(store), old, new)

    def contents(self, store: str) -> StoreContents:
        """What the states of that store hold, to be read."""
        return StoreContents(self._shadow(store))

    def preview(
        self,
        store: str,
        commit: str,
        *,
        last: str | None,
        foreign: Collection[str],
        before: Sequence[PreImage],
    ) -> Preview:
        """What `restore` would do. Raises ToolFailedError."""
        self._must_be_a_project()
        return undo.preview_restore(
            self._shadow(store),
            commit,
            last=last,
            foreign=foreign,
            before=self._placed(before),
        )

    def restore(
        self,
        store: str,
        commit: str,
        *,
        last: str | None,
        foreign: Collection[str],
        before: Sequence[PreImage],
        overwrite: bool,
    ) -> Restored:
        """Bring that state back. Raises ToolFailedError; the state before is recorded by then."""
        self._must_be_a_project()
        return undo.restore_files(
            self._shadow(store),
            commit,
            last=last,
            foreign=foreign,
            before=self._placed(before),
            overwrite=overwrite,
        )

    def _placed(self, files: Sequence[PreImage]) -> Sequence[PreImage]:
        """As they lie in the folder: on record its name is UTF-8, and the folder's need not be."""
        tree = os.path.realpath(self.tree)
        recorded = f"{clean(tree)}/"
        if recorded == f"{tree}/":
            return files
        return [
            replace(each, path=f"{tree}/{each.path.removeprefix(recorded)}")
            if each.path.startswith(recorded)
            else each
            for each in files
        ]

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
        if not is_folder(tree):
            raise ToolFailedError(f"the folder is gone: {tree}")
