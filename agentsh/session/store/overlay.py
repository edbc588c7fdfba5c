"""A small JSON file in the sessions folder that says something of sessions, by their ids.

What it says is not in the session files, since those grow only by what was said and done. Read anew
each time, changed under a lock, replaced as a whole; damaged, too large, or no regular file, it
counts as empty.
Read next: relinks.py, marks.py.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from agentsh.errors import SessionNotSavedError
from agentsh.files import read_foreign, write_private
from agentsh.jsontext import JsonError, JsonObject, JsonValue, dumps, loads_object

_MOST_BYTES = 64 << 20


class Overlay:
    """`name` below `root`; a value for each session id."""

    def __init__(self, root: Path, name: str) -> None:
        self._root = root
        self._path = root / name

    def read(self) -> JsonObject:
        try:
            sessions = loads_object(read_foreign(self._path, _MOST_BYTES, follow=False)).get(
                "sessions"
            )
        except (OSError, JsonError):
            return {}
        return dict(sessions) if isinstance(sessions, dict) else {}

    def change(self, session: str, new: Callable[[JsonValue], JsonValue]) -> None:
        """`new` is given the old value; None takes it out. Raises SessionNotSavedError."""
        try:
            with self._locked():
                sessions = self.read()
                value = new(sessions.pop(session, None))
                if value is not None:
                    sessions[session] = value
                self._write(sessions)
        except OSError as e:
            reason = f"{self._path} was not written: {e.strerror or e}"
            raise SessionNotSavedError(reason, path=str(self._path)) from e

    @contextmanager
    def _locked(self) -> Iterator[None]:
        fd = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            # where a folder cannot be locked, two changes at once may lose one of them
            with suppress(OSError):
                fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)

    def _write(self, sessions: Mapping[str, JsonValue]) -> None:
        value: JsonObject = {"version": 1, "sessions": dict(sorted(sessions.items()))}
        write_private(self._path, dumps(value) + b"\n")
