"""Whether a call reaches a folder that it must leave alone: the original of a copy. Pure.

By the real paths that it touches, and by its words: a command that names the folder, in full or
from the home on, is refused whatever it would do there. It stands alone beside the table of
policies, since no policy and no rule allows it. Read next: policy.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct


class OriginalFolder(Struct, frozen=True):
    """`copy`: all of the copy that is worked in, which may lie in the folder. Real paths."""

    folder: Path
    copy: Path
    home: Path

    def is_reached(self, touched: Sequence[Path], arguments: str) -> bool:
        """`touched`: real paths of a call; `arguments`: as text."""
        for path in touched:
            if path.is_relative_to(self.folder) and not path.is_relative_to(self.copy):
                return True
        if self.copy.is_relative_to(self.folder):
            arguments = arguments.replace(str(self.copy), "")
        return any(re.search(re.escape(name) + r"(?![\w.-])", arguments) for name in self._names())

    def words(self, tool: str) -> str:
        return (
            f"{tool} was refused: {self.folder} is the original, which must be left alone; this is"
            f" a copy of it, {self.copy}. Use paths below that, or relative ones."
        )

    def _names(self) -> Iterator[str]:
        """How a command may call it."""
        yield str(self.folder)
        if self.folder.is_relative_to(self.home) and self.folder != self.home:
            below = self.folder.relative_to(self.home)
            yield from (f"~/{below}", f"$HOME/{below}", f"${{HOME}}/{below}")
