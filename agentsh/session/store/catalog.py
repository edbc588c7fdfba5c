"""What lists know of many sessions, kept in one SQLite file that may be deleted at any time.

A row is the summary of one file as of a number of bytes, with the digest of their last block; its
key is the path with device, inode, size and time. A file that has only grown is read from where the
row ends; at any doubt the row is made anew from the first byte. So every answer is the same without
the index, only slower (R11-R13). Loaded by nobody but a command that lists. Read next: database.py,
summary.py.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from msgspec import MsgspecError, convert

from agentsh.files import is_there
from agentsh.jsontext import clean
from agentsh.session.store.database import IndexFile, Stat, stat_of, tail_digest
from agentsh.session.store.summary import RestartedError, Summary, catch_up, summarize

_MEMBERS = Summary.__struct_fields__
_COLUMNS = ("path", "dev", "ino", "size", "mtime_ns", "tail", *_MEMBERS)
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM file"
_SIZE = "SELECT size FROM file WHERE path = ? AND id = ?"
_INSERT = (
    f"INSERT OR REPLACE INTO file ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"
)
_NO_SESSION = Summary("", "", "", 0)
_LARGEST = 1 << 63


class Index:
    """One database file. Every method works, if need be without it."""

    def __init__(self, path: Path) -> None:
        self._file = IndexFile(path)

    def summaries(self, files: Iterable[Path]) -> dict[Path, Summary]:
        """The summary of each file that is a session; the rest is left out."""
        paths = list(files)
        with self._file.database() as database:
            rows = self._rows(database, paths)
            summaries: dict[Path, Summary] = {}
            fresh: list[_Row] = []
            for path in paths:
                row = _look(path, rows.get(_key(path)))
                if row is None:
                    continue
                if row is not rows.get(_key(path)):
                    fresh.append(row)
                if row.summary is not None:
                    summaries[path] = row.summary
            self._store(database, fresh)
        return summaries

    def known_size(self, path: Path, session: str) -> int | None:
        """The size in bytes of the session's file at the last look."""
        if not is_there(self._file.path):
            return None
        with self._file.database() as database:
            if database is None:
                return None
            try:
                row = database.execute(_SIZE, (_key(path), clean(session))).fetchone()
            except sqlite3.Error:
                return None
        return None if row is None else int(row[0])

    def _rows(self, database: sqlite3.Connection | None, paths: list[Path]) -> dict[str, _Row]:
        if database is None:
            return {}
        keys = {_key(p) for p in paths}
        rows: dict[str, _Row] = {}
        try:
            for path, dev, ino, size, time, tail, *values in database.execute(_SELECT):
                if path in keys:
                    rows[path] = _Row(path, (dev, ino, size, time), tail, _summary(values))
        except sqlite3.OperationalError:
            return {}
        except (sqlite3.DatabaseError, MsgspecError):
            self._file.set_aside()  # made anew by whoever comes next
            return {}
        return rows

    def _store(self, database: sqlite3.Connection | None, rows: list[_Row]) -> None:
        if database is None or not rows:
            return
        try:
            with database:  # one transaction: summary and checkpoint belong together (R11)
                database.executemany(_INSERT, [v for row in rows if _fits(v := row.values())])
        except sqlite3.Error:
            return


class _Row:
    """One file as of its last look. `summary` None: it is no session."""

    __slots__ = ("path", "stat", "summary", "tail")

    def __init__(self, path: str, stat: Stat, tail: str, summary: Summary | None) -> None:
        self.path = path
        self.stat = stat
        self.tail = tail
        self.summary = summary

    def values(self) -> tuple[object, ...]:
        members = [getattr(self.summary or _NO_SESSION, name) for name in _MEMBERS]
        if self.summary is None:
            members[0] = None
        texts = (clean(v) if isinstance(v, str) else v for v in members)
        return (self.path, *self.stat, self.tail, *texts)


def _summary(values: list[object]) -> Summary | None:
    """Of a row's last columns. Raises MsgspecError for what `values` never gave."""
    if values[0] is None:
        return None
    return convert(dict(zip(_MEMBERS, values, strict=True)), Summary)


def _fits(values: tuple[object, ...]) -> bool:
    """Whether SQLite can hold them: a header may name a version of any size."""
    return all(not isinstance(v, int) or -_LARGEST <= v < _LARGEST for v in values)


def _key(path: Path) -> str:
    """A row's key: SQLite's texts are UTF-8, a path need not be (device and inode stand beside)."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _look(path: Path, stored: _Row | None) -> _Row | None:
    """The row of a file as it is now; the known one where nothing changed."""
    try:
        stat = stat_of(path)
        if stored is not None and stored.stat == stat:
            return stored
        summary = _grown(path, stat, stored)
        if summary is None:
            summary = summarize(path)
        tail = "" if summary is None else tail_digest(path, summary.bytes)
    except OSError:
        return None
    return _Row(_key(path), stat, tail, summary)


def _grown(path: Path, stat: Stat, stored: _Row | None) -> Summary | None:
    """The summary of a file that only grew; None if that is uncertain."""
    if stored is None or stored.summary is None or stored.stat[:2] != stat[:2]:
        return None
    counted = stored.summary.bytes
    # a last line without its end was counted, and may have gone on since
    if counted != stored.stat[2] or stat[2] <= counted or stored.tail != tail_digest(path, counted):
        return None
    try:
        return catch_up(path, stored.summary)
    except RestartedError:
        return None
