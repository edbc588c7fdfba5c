"""What was typed, across sessions: one file, one JSON string a line, 0600 from the first byte.

Appends are one write each (O_APPEND), so that several chats may share the file. Reading takes the
end of it only. Without a path nothing leaves the process. It stands alone because prompt_toolkit
asks for a class of its own kind. Read next: repl.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.history import History

from agentsh.files import append_private, read_end
from agentsh.jsontext import JsonError, dumps, loads

READ_BYTES = 1 << 20
_LONGEST = 100_000
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
        if self._path is None or len(string) > _LONGEST:
            return
        # a history that cannot be written must not cost the prompt that is being sent
        with suppress(OSError):
            append_private(self._path, dumps(string) + b"\n")

    def append_string(self, string: str) -> None:
        """As the base class, but not the same twice in a row."""
        if not self.get_strings() or self.get_strings()[-1] != string:
            super().append_string(string)

    def _tail(self) -> bytes:
        if self._path is None:
            return b""
        try:
            return read_end(self._path, READ_BYTES)
        except OSError:
            return b""
