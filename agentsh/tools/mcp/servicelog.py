"""What a server says besides its messages: a file of at most 1 MB, 0600, and one older.

Its last lines are in memory too, for the words of an error. A disk that refuses costs the file and
nothing else. Lines of several processes may stand in one file. Read next: child.py.
"""

from __future__ import annotations

import re
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Final

from agentsh.files import append_private, is_regular

_MOST: Final = 1 << 20
_LINES: Final = 8
_LONGEST: Final = 300
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class ServiceLog:
    """One server's log."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._last: deque[str] = deque(maxlen=_LINES)
        self._open = b""

    def stderr(self, data: bytes) -> None:
        """The next bytes of its standard error."""
        *lines, self._open = (self._open + data).split(b"\n")
        self._open = self._open[-_LONGEST * 4 :]
        self._last.extend(filter(None, map(_shown, lines)))
        self._append(data)

    def noise(self, line: bytes) -> None:
        """A line of its standard output that is no message."""
        self._append(line[:2000] + b"\n")

    def last_words(self) -> str:
        """The end of what it said on its standard error, on one line."""
        return " / ".join(filter(None, (*self._last, _shown(self._open))))[-1000:]

    def _append(self, data: bytes) -> None:
        with suppress(OSError):
            if is_regular(self.path) and self.path.stat().st_size + len(data) > _MOST:
                self.path.replace(self.path.with_name(f"{self.path.name}.1"))
            append_private(self.path, data[-_MOST:])


def _shown(line: bytes) -> str:
    return _CONTROL.sub("", line.decode("utf-8", "replace")).strip()[:_LONGEST]
