"""FileLedger: what this session last read or wrote, by real path, so that foreign changes are seen.

A file "changed" when its bytes are no longer those the session knows (T16). The stat spares the
hashing where it can be trusted; a stat taken within two seconds of the file's own time cannot (a
second write in the same tick leaves it alone). The ledger of an earlier process is rebuilt from the
details of stored results (`learn`). It never reads a session and never writes a file.
Read next: paths.py.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from agentsh.files import open_foreign
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import own_details

FileChange: TypeAlias = Literal["unknown", "same", "changed", "gone"]

MOST_HASHED = 256 * 1024 * 1024
"""A larger file is not read for its digest: a file may be hundreds of gigabytes of nothing."""
_CHUNK = 1 << 20
_RACY_NS = 2_000_000_000

_Stat: TypeAlias = tuple[int, int, int, int, int]


class Known(Struct, frozen=True):
    """A file as the session last saw it. `stat` None: known from an earlier process only."""

    sha256: str
    stat: _Stat | None = None


class FileLedger:
    """Thread-safe; one a session."""

    def __init__(self) -> None:
        self._known: dict[str, Known] = {}
        self._lock = threading.Lock()

    def remember(self, path: str, sha256: str, stat: os.stat_result | None = None) -> None:
        """The session now knows the file at this real path with these bytes."""
        version = Known(sha256, None if stat is None else _trusted(stat))
        with self._lock:
            self._known[path] = version

    def forget(self, path: str) -> None:
        with self._lock:
            self._known.pop(path, None)

    def known(self, path: str) -> str | None:
        """The digest under which the session knows the file; None if it never saw it."""
        with self._lock:
            version = self._known.get(path)
        return None if version is None else version.sha256

    def paths(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(sorted(self._known))

    def change(self, path: str) -> FileChange:
        """What happened to the file since the session last read or wrote it."""
        with self._lock:
            version = self._known.get(path)
        if version is None:
            return "unknown"
        try:
            stat = os.stat(path)  # noqa: PTH116 - a real path as text, no Path needed
            if version.stat is not None and version.stat == _trusted(stat):
                return "same"
            if stat.st_size > MOST_HASHED:
                return "changed"  # nobody can tell, and what cannot be told is not overwritten
            digest = digest_of(path)
        except (FileNotFoundError, NotADirectoryError):
            return "gone"
        except OSError:
            return "changed"  # closed, or no file any more: nobody can tell
        if digest != version.sha256:
            return "changed"
        self.remember(path, digest, stat)
        return "same"

    def learn(self, details: JsonValue) -> None:
        """Take in what a stored result of read, write or edit says of its file (`fact_of`)."""
        file = (own_details(details) or {}).get("file")
        if isinstance(file, Mapping):
            path, digest = file.get("path"), file.get("sha256")
            if isinstance(path, str) and isinstance(digest, str):
                self.remember(path, digest)


def fact_of(path: str, sha256: str, size: int) -> JsonObject:
    """What a result's details say of the file it read or wrote, for `FileLedger.learn`."""
    return {"file": {"path": path, "sha256": sha256, "size": size}}


def digest_of(path: str) -> str:
    """sha256 of a file's bytes, in pieces, at most MOST_HASHED and one. Raises OSError."""
    total = hashlib.sha256()
    left = MOST_HASHED + 1  # a file may grow while it is read
    with open_foreign(path, buffering=0) as file:
        while left > 0 and (piece := file.read(min(_CHUNK, left))):
            total.update(piece)
            left -= len(piece)
    return total.hexdigest()


def _trusted(stat: os.stat_result) -> _Stat | None:
    """What every change of the bytes changes, or None where one could hide in a tick."""
    if time.time_ns() - max(stat.st_mtime_ns, stat.st_ctime_ns) < _RACY_NS:
        return None
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
