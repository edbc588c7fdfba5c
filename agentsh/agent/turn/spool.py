"""The spool of a streaming answer: what has come so far survives a crash (R27).

A file beside the session, one JSON line per 200 ms of text, gone once the answer is stored; no
token ever becomes a line of the session itself (R64). Repair reads it (session/health/evidence.py).
A disk that refuses costs the spool, never the answer, and so does whatever else has its name or its
folder's: only a file that is made anew is written to. Read next: requester.py.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from agentsh.files import create_private, open_folder, private_folder, write_all
from agentsh.jsontext import dumps

WINDOW = 0.2


class StreamSpool:
    """Collects text and thinking, and writes them down at most every 200 ms."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._fd: int | None = None
        self._made: Path | None = None
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._written = 0.0

    def add(self, now: float, *, text: str = "", thinking: str = "") -> None:
        """Take some more; `now` is monotonic seconds."""
        if text:
            self._text.append(text)
        if thinking:
            self._thinking.append(thinking)
        if now - self._written >= WINDOW:
            self._written = now
            self._write()

    def _write(self) -> None:
        if self._path is None or not (self._text or self._thinking):
            return
        line = dumps({"text": "".join(self._text), "thinking": "".join(self._thinking)}) + b"\n"
        self._text, self._thinking = [], []
        try:
            if self._fd is None:
                self._fd = _create(self._path)
                self._made = self._path
            write_all(self._fd, line)
        except OSError:
            self._path = None  # the answer itself is not in danger

    def close(self) -> None:
        """No more comes; what was written stays for a repair until `discard`."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def discard(self) -> None:
        """The answer is stored, or its failure is: the spool has done its work."""
        self.close()
        if self._made is not None:
            self._made.unlink(missing_ok=True)
            with suppress(OSError):  # other spools or blobs are in it
                self._made.parent.rmdir()
            self._made = None


def _create(path: Path) -> int:
    """The file, made anew in a folder that is no link. Raises OSError."""
    folder = open_folder(private_folder(path.parent))
    try:
        return create_private(path.name, folder=folder)
    finally:
        os.close(folder)
