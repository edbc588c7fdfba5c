"""What was typed, across sessions: one file, one JSON string a line, 0600 from the first byte.

Appends are one write each (O_APPEND), so that several chats may share the file. Reading takes the
end of it only. Without a path nothing leaves the process. Read next: repl.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.history import History

from agentsh.jsontext import JsonError, dumps, loads

READ_BYTES = 1 << 20
LONGEST = 100_000
"""A prompt longer than this (a paste) is kept for this process only."""


class PromptHistory(History):
    """The history of the editor; newest first, as prompt_toolkit wants it."""

    def __init__(self, path: Path | None) -> None:
        super().__init__()
        self._path = path

    def load_history_strings(self) -> Iterable[str]:
        seen: set[str] = set()
        for line in reversed(self._tail().split(b"\n")):
            try:
                text = loads(line) if line else None
            except JsonError:
                continue
            if isinstance(text, str) and text not in seen:
                seen.add(text)
                yield text

    def store_string(self, string: str) -> None:
        if self._path is None or len(string) > LONGEST:
            return
        # a history that cannot be written must not cost the prompt that is being sent
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.write(fd, dumps(string) + b"\n")
            finally:
                os.close(fd)

    def append_string(self, string: str) -> None:
        """As the base class, but not the same twice in a row."""
        if not self.get_strings() or self.get_strings()[-1] != string:
            super().append_string(string)

    def _tail(self) -> bytes:
        if self._path is None:
            return b""
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - READ_BYTES))
                return file.read()
        except OSError:
            return b""
