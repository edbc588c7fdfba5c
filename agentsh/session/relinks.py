"""Which sessions were tied to another folder than their header names: one small file in the store.

A moved project takes its sessions along by `sessions relink`. The session file itself is neither
touched (its header is under a seal) nor moved (a child names its parent by path); this overlay says
where it belongs now. Lost, it only means that the old folder counts again (docs/adr/0011).
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from agentsh.errors import SessionNotSavedError
from agentsh.jsontext import JsonError, JsonObject, dumps, loads_object

NAME = "relinked.json"


class Relink(Struct, frozen=True):
    """`file`: where the session lay when it was tied, relative to the store's root."""

    cwd: str
    file: str


class Relinks:
    """The overlay of one store. Read anew each time: it is small, and others write it too."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._path = root / NAME

    def all(self) -> Mapping[str, Relink]:
        """session id → where it belongs. A damaged file counts as empty."""
        try:
            sessions = loads_object(self._path.read_bytes()).get("sessions")
        except (OSError, JsonError):
            return {}
        if not isinstance(sessions, dict):
            return {}
        found = {}
        for id_, value in sessions.items():
            cwd, file = (value.get("cwd"), value.get("file")) if isinstance(value, dict) else (0, 0)
            if isinstance(cwd, str) and isinstance(file, str):
                found[id_] = Relink(cwd, file)
        return found

    def set(self, session: str, relink: Relink | None) -> None:
        """Tie a session, or (None) let its header count again. Raises SessionNotSavedError."""
        try:
            with self._locked():
                sessions = dict(self.all())
                sessions.pop(session, None)
                if relink is not None:
                    sessions[session] = relink
                self._write(sessions)
        except OSError as e:
            words = f"{self._path} was not written: {e.strerror or e}"
            raise SessionNotSavedError(words, path=str(self._path)) from e

    @contextmanager
    def _locked(self) -> Iterator[None]:
        fd = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            # where a folder cannot be locked, two relinks at once may lose one of them
            with suppress(OSError):
                fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)

    def _write(self, sessions: Mapping[str, Relink]) -> None:
        value: JsonObject = {
            "version": 1,
            "sessions": {i: {"cwd": r.cwd, "file": r.file} for i, r in sorted(sessions.items())},
        }
        temporary = self._path.with_name(f".{NAME}.{os.getpid()}.new")
        temporary.unlink(missing_ok=True)
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(dumps(value) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self._path)
        finally:
            temporary.unlink(missing_ok=True)
