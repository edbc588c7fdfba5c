"""A folder with a store of its states beside it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from msgspec import Struct

from agentsh.tools.undo import undo
from agentsh.tools.undo.checkpoint import Checkpointed, snapshot
from agentsh.tools.undo.shadow import Shadow
from agentsh.tools.undo.undo import Restored


class Project(Struct):
    """A folder with its store beside it."""

    tree: Path
    store: Path

    @property
    def shadow(self) -> Shadow:
        return Shadow(self.store.resolve(), self.tree.resolve(), os.environ)

    def snap(self) -> Checkpointed:
        return snapshot(self.shadow)

    def back(self, commit: str, *, last: str | None = None, overwrite: bool = False) -> Restored:
        return undo.restore_files(self.shadow, commit, last=last, overwrite=overwrite)

    def put(self, name: str, data: str | bytes) -> Path:
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def state(self) -> dict[str, object]:
        """Every file with kind, bytes and mode."""
        found: dict[str, object] = {}
        for path in sorted(self.tree.rglob("*")):
            name = str(path.relative_to(self.tree))
            if path.is_symlink():
                found[name] = str(path.readlink())
            elif path.is_file():
                found[name] = (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        return found
