"""What lists know of many sessions, kept in one SQLite file that may be deleted at any time.

A row is the summary of one file as of a number of bytes, with the digest of their last block; its
key is the path with device, inode, size and time. A file that has only grown is read from where the
row ends; at any doubt the row is made anew from the first byte. So every answer is the same without
the index, only slower (R11-R13). A database that is damaged is set aside and made again; one that
is locked or cannot be written is done without. The only sqlite3, and loaded by nobody but a command
that lists. Read next: listing.py.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec.structs import asdict

from agentsh.jsontext import JsonError, dumps, loads_object
from agentsh.session.disk import Disk
from agentsh.session.listing import RestartedError, Summary, catch_up, summarize
from agentsh.session.log import make_folder

SCHEMA = 1
_WAIT_SECONDS = 1.0
_TAIL = 4096
_CREATE = """
CREATE TABLE IF NOT EXISTS file (
    path TEXT PRIMARY KEY,
    dev INTEGER NOT NULL, ino INTEGER NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    bytes INTEGER NOT NULL, lines INTEGER NOT NULL, tail TEXT NOT NULL,
    summary BLOB
) WITHOUT ROWID
"""
# A full-text table (`word`) goes beside it, keyed by (path, line); its checkpoint is `file.lines`.


class Index:
    """One database file. Every method works, if need be without it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def summaries(self, files: Iterable[Path]) -> dict[Path, Summary]:
        """The summary of each file that is a session; the rest is left out."""
        wanted = list(files)
        with self._database() as database:
            known = _rows(database, wanted)
            found: dict[Path, Summary] = {}
            fresh: list[_Row] = []
            for path in wanted:
                row = _look(path, known.get(str(path)))
                if row is None:
                    continue
                if row is not known.get(str(path)):
                    fresh.append(row)
                if row.summary is not None:
                    found[path] = row.summary
            self._store(database, fresh)
        return found

    def forget_missing(self) -> int:
        """Drop the rows of files that are gone; how many."""
        with self._database() as database:
            if database is None:
                return 0
            paths = [str(p) for (p,) in database.execute("SELECT path FROM file")]
            gone = [(p,) for p in paths if not Path(p).exists()]
            with suppress(sqlite3.Error), database:
                database.executemany("DELETE FROM file WHERE path = ?", gone)
        return len(gone)

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection | None]:
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
                if attempt == 2 or not self._set_aside():
                    return None
            except OSError:
                return None
        return None

    def _connect(self) -> sqlite3.Connection:
        make_folder(Disk(), self._path.parent)
        # made before SQLite sees it, so that it is private from the first byte; its journal follows
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        os.fchmod(fd, 0o600)
        os.close(fd)
        database = sqlite3.connect(self._path, timeout=_WAIT_SECONDS)
        try:
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version != SCHEMA:
                with database:
                    database.execute("DROP TABLE IF EXISTS file")
                    database.execute(_CREATE)
                    database.execute(f"PRAGMA user_version = {SCHEMA}")
            # what a power cut takes is made again
            database.execute("PRAGMA synchronous = OFF")
            database.execute("SELECT path FROM file LIMIT 1").fetchone()
        except BaseException:
            database.close()
            raise
        return database

    def _set_aside(self) -> bool:
        """Move a damaged database out of the way, over an older one of its kind."""
        try:
            for suffix in ("-journal", "-wal", "-shm"):
                Path(f"{self._path}{suffix}").unlink(missing_ok=True)
            self._path.replace(self._path.with_name(self._path.name + ".damaged"))
        except OSError:
            return False
        return True

    def _store(self, database: sqlite3.Connection | None, rows: list[_Row]) -> None:
        if database is None or not rows:
            return
        try:
            with database:  # one transaction: summary and checkpoint belong together (R11)
                database.executemany(
                    "INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [row.values() for row in rows],
                )
        except sqlite3.Error:
            return


class _Row:
    """One file as of its last look. `summary` None: it is no session."""

    __slots__ = ("path", "stat", "summary", "tail")

    def __init__(
        self, path: str, stat: tuple[int, ...], tail: str, summary: Summary | None
    ) -> None:
        self.path = path
        self.stat = stat
        """dev, ino, size, mtime_ns"""
        self.tail = tail
        self.summary = summary

    def values(self) -> tuple[object, ...]:
        summary = self.summary
        text = None if summary is None else dumps(asdict(summary))
        counted = (0, 0) if summary is None else (summary.bytes, summary.lines)
        return (self.path, *map(_signed, self.stat), *counted, self.tail, text)


def _signed(number: int) -> int:
    """Inode and device numbers use 64 bits, SQLite's integers 63."""
    return number - (1 << 64) if number >= 1 << 63 else number


def _rows(database: sqlite3.Connection | None, paths: list[Path]) -> dict[str, _Row]:
    if database is None:
        return {}
    wanted = {str(p) for p in paths}
    found: dict[str, _Row] = {}
    try:
        for path, *stat, _bytes, _lines, tail, text in database.execute("SELECT * FROM file"):
            if path in wanted:
                summary = None if text is None else Summary(**loads_object(text))  # type: ignore[arg-type]
                found[path] = _Row(path, tuple(stat), tail, summary)
    except (sqlite3.Error, JsonError, TypeError, ValueError):
        return {}
    return found


def _look(path: Path, known: _Row | None) -> _Row | None:
    """The row of a file as it is now; the known one where nothing changed."""
    try:
        info = path.stat()
        stat = tuple(map(_signed, (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)))
        if known is not None and known.stat == stat:
            return known
        summary = _grown(path, stat, known)
        if summary is None:
            summary = summarize(path)
        tail = "" if summary is None else _tail_digest(path, summary.bytes)
    except OSError:
        return None
    return _Row(str(path), stat, tail, summary)


def _grown(path: Path, stat: tuple[int, ...], known: _Row | None) -> Summary | None:
    """The summary of a file that only grew; None where that is not certain."""
    if known is None or known.summary is None or known.stat[:2] != stat[:2]:
        return None
    counted = known.summary.bytes
    # a last line without its end was counted, and may have gone on since
    if counted != known.stat[2] or stat[2] <= counted or known.tail != _tail_digest(path, counted):
        return None
    try:
        return catch_up(path, known.summary)
    except RestartedError:
        return None


def _tail_digest(path: Path, end: int) -> str:
    """Of the last block before `end`: other bytes there, and the row is of another file."""
    start = max(0, end - _TAIL)
    with path.open("rb") as file:
        file.seek(start)
        return hashlib.sha256(file.read(end - start)).hexdigest()[:16]
