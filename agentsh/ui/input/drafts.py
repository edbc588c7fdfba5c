"""The draft on disk, so that a crash of the chat costs nothing that was typed.

One small file a chat, 0600 from the first byte and locked as long as its chat lives; it holds one
JSON line, written over in place and cut behind, so a kill at any moment leaves the old draft or the
new. A chat that starts in the same folder takes the newest one whose chat is gone. A chat that is
left without a draft leaves no file. Attachments are not kept. Read next: editor.py, repl.py.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agentsh.files import open_regular, private_folder
from agentsh.jsontext import JsonError, dumps, loads

_LONGEST = 1_000_000
_SECONDS = 0.3
"""What a kill may cost."""


class DraftFile:
    """The draft of one chat. Without a folder, or where it cannot be written, nothing is kept."""

    def __init__(self, folder: Path | None, cwd: Path) -> None:
        self._folder = folder
        self._cwd = str(cwd)
        self._path: Path | None = None
        self._fd = -1
        self._kept = ""

    def take_left(self) -> str | None:
        """The newest draft of this folder that a chat left when it was killed; it is ours now."""
        for path in self._newest():
            with suppress(OSError):
                fd = open_regular(path, os.O_RDWR, follow=False)
                text = None
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    text = self._text_of(os.read(fd, 4 * _LONGEST))
                    if text is not None:
                        self.keep(text)
                        path.unlink(missing_ok=True)
                finally:
                    os.close(fd)
                if text:
                    return text
        return None

    def keep(self, text: str) -> None:
        """What is being typed now."""
        if self._folder is None or text == self._kept or len(text) > _LONGEST:
            return
        with suppress(OSError):
            if self._fd < 0:
                if not text.strip():
                    return
                self._create(self._folder)
            line = dumps({"cwd": self._cwd, "text": text}) + b"\n" if text.strip() else b""
            os.pwrite(self._fd, line, 0)
            os.ftruncate(self._fd, len(line))
            self._kept = text

    def close(self) -> None:
        """The chat is left. A draft that there still is stays."""
        if self._fd < 0 or self._path is None:
            return
        with suppress(OSError):
            if not self._kept.strip():
                self._path.unlink(missing_ok=True)
            os.close(self._fd)
        self._fd = -1

    def _create(self, folder: Path) -> None:
        private_folder(folder)
        path = folder / f"{os.getpid()}-{os.urandom(4).hex()}.json"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        self._fd, self._path = os.open(path, flags, 0o600), path
        fcntl.flock(self._fd, fcntl.LOCK_EX)

    def _newest(self) -> list[Path]:
        if self._folder is None:
            return []
        dated: list[tuple[float, Path]] = []
        with suppress(OSError), os.scandir(self._folder) as entries:
            dated += [
                (entry.stat(follow_symlinks=False).st_mtime, Path(entry.path))
                for entry in entries
                if entry.name.endswith(".json") and entry.is_file(follow_symlinks=False)
            ]
        return [path for _, path in sorted(dated, reverse=True)]

    def _text_of(self, data: bytes) -> str | None:
        """None: another folder's. An empty one, or half of one, says nothing."""
        line, newline, _ = data.partition(b"\n")
        if not newline:
            return ""
        try:
            value = loads(line)
        except JsonError:
            return ""
        if not isinstance(value, dict) or value.get("cwd") != self._cwd:
            return None
        text = value.get("text")
        return text if isinstance(text, str) else ""


class DraftKeeper:
    """Keeps what `draft` gives, soon after it changed."""

    def __init__(self, file: DraftFile, draft: Callable[[], str]) -> None:
        self._file = file
        self._draft = draft
        self._due = False
        self._closed = False

    def soon(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._closed and not self._draft():
            self._file.keep("")  # sent: a kill must not bring it back
        elif not self._due:
            self._due = True
            loop.call_later(_SECONDS, self._keep)

    def take_left(self) -> str | None:
        return self._file.take_left()

    def close(self) -> None:
        self._file.keep(self._draft())
        self._file.close()
        self._closed = True

    def _keep(self) -> None:
        self._due = False
        if not self._closed:
            self._file.keep(self._draft())
