"""The one SQLite file of what is derived from sessions: opened, private, set aside where damaged.

It may be deleted at any time and is never the truth: the session file leads, what is in here
follows, and who finds the database locked, full or unwritable goes on without it. `catalog.py`
keeps summaries in it and `fulltext.py` words; sqlite3 is imported by these three and nobody else.
Read next: catalog.py, fulltext.py.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentsh.files import open_foreign, open_regular
from agentsh.session.file.disk import Disk
from agentsh.session.file.log import make_durable_folder

SCHEMA = 5
_WAIT_SECONDS = 1.0
_LARGEST = 1 << 63
_TAIL = 4096
_TABLES = ("file", "said_in", "said")
_CREATE = """
CREATE TABLE IF NOT EXISTS file (
    path TEXT PRIMARY KEY,
    dev INTEGER NOT NULL, ino INTEGER NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    tail TEXT NOT NULL,
    id TEXT, cwd TEXT NOT NULL, created TEXT NOT NULL, version INTEGER NOT NULL, parent TEXT,
    name TEXT, prompt TEXT, updated TEXT NOT NULL, messages INTEGER NOT NULL,
    bytes INTEGER NOT NULL, lines INTEGER NOT NULL, title TEXT
) WITHOUT ROWID
"""

Stat = tuple[int, int, int, int]
"""dev, ino, size, mtime_ns."""


class IndexFile:
    """Where the database is. Every use opens it anew."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def database(self) -> Iterator[sqlite3.Connection | None]:
        """An open database, or None where there can be none now."""
        database = self._open()
        try:
            yield database
        finally:
            if database is not None:
                database.close()

    def _open(self) -> sqlite3.Connection | None:
        for attempt in (1, 2):
            try:
                return self._connect()
            except sqlite3.OperationalError:
                return None  # locked, full, read-only: go without
            except sqlite3.DatabaseError:
                if attempt == 2 or not self.set_aside():
                    return None
            except OSError:
                return None
        return None

    def _connect(self) -> sqlite3.Connection:
        disk = Disk()
        make_durable_folder(disk, self.path.parent)
        # made before SQLite sees it, so that it is private from the first byte; its journal follows
        try:
            fd = open_regular(self.path, os.O_RDWR, follow=False)
        except FileNotFoundError:
            fd = disk.open_beside(str(self.path))
        os.fchmod(fd, 0o600)
        os.close(fd)
        database = sqlite3.connect(self.path, timeout=_WAIT_SECONDS)
        try:
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version != SCHEMA:
                with database:
                    for table in _TABLES:
                        database.execute(f"DROP TABLE IF EXISTS {table}")
                    database.execute(_CREATE)
                    database.execute(f"PRAGMA user_version = {SCHEMA}")
            # what a power cut takes is made again
            database.execute("PRAGMA synchronous = OFF")
            database.execute("SELECT path FROM file LIMIT 1").fetchone()
        except BaseException:
            database.close()
            raise
        return database

    def set_aside(self) -> bool:
        """Move a damaged database out of the way, over an older one of its kind."""
        try:
            for suffix in ("-journal", "-wal", "-shm"):
                Path(f"{self.path}{suffix}").unlink(missing_ok=True)
            self.path.replace(self.path.with_name(self.path.name + ".damaged"))
        except OSError:
            return False
        return True


# ---- telling whether a file is the one that was read, and only grew ------------------------------


def stat_of(path: Path) -> Stat:
    """As SQLite can hold it: device and inode use 64 bits, its integers 63. Raises OSError."""
    info = path.stat()
    dev, ino = (n if n < _LARGEST else n - 2 * _LARGEST for n in (info.st_dev, info.st_ino))
    return dev, ino, info.st_size, info.st_mtime_ns


def tail_digest(path: Path, end: int) -> str:
    """Of the last block before `end`: other bytes there, and the row is of another file."""
    start = max(0, end - _TAIL)
    with open_foreign(path) as file:
        file.seek(start)
        return hashlib.sha256(file.read(end - start)).hexdigest()[:16]
