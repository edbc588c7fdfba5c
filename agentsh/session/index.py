"""What lists know of many sessions, kept in one SQLite file that may be deleted at any time.

A row is the summary of one file as of a number of bytes, with the digest of their last block; its
key is the path with device, inode, size and time. A file that has only grown is read from where the
row ends; at any doubt the row is made anew from the first byte. So every answer is the same without
the index, only slower (R11-R13). Loaded by nobody but a command that lists.
Read next: indexfile.py, listing.py.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import asdict

from agentsh.jsontext import JsonError, dumps, loads_object
from agentsh.session.indexfile import IndexFile, stat_of, tail_digest
from agentsh.session.listing import RestartedError, Summary, catch_up, summarize


class Index:
    """One database file. Every method works, if need be without it."""

    def __init__(self, path: Path) -> None:
        self._file = IndexFile(path)

    def summaries(self, files: Iterable[Path]) -> dict[Path, Summary]:
        """The summary of each file that is a session; the rest is left out."""
        wanted = list(files)
        with self._file.database() as database:
            known = self._rows(database, wanted)
            found: dict[Path, Summary] = {}
            fresh: list[_Row] = []
            for path in wanted:
                row = _look(path, known.get(_key(path)))
                if row is None:
                    continue
                if row is not known.get(_key(path)):
                    fresh.append(row)
                if row.summary is not None:
                    found[path] = row.summary
            self._store(database, fresh)
        return found

    def _rows(self, database: sqlite3.Connection | None, paths: list[Path]) -> dict[str, _Row]:
        if database is None:
            return {}
        wanted = {_key(p) for p in paths}
        found: dict[str, _Row] = {}
        try:
            for path, *stat, _bytes, _lines, tail, text in database.execute("SELECT * FROM file"):
                if path in wanted:
                    summary = None if text is None else Summary(**loads_object(text))  # type: ignore[arg-type]
                    found[path] = _Row(path, tuple(stat), tail, summary)
        except sqlite3.OperationalError:
            return {}
        except (sqlite3.DatabaseError, JsonError, TypeError, ValueError):
            self._file.set_aside()  # made anew by whoever comes next
            return {}
        return found

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
        return (self.path, *self.stat, *counted, self.tail, text)


def _key(path: Path) -> str:
    """A row's key: SQLite's texts are UTF-8, a path need not be (device and inode stand beside)."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _look(path: Path, known: _Row | None) -> _Row | None:
    """The row of a file as it is now; the known one where nothing changed."""
    try:
        stat = stat_of(path)
        if known is not None and known.stat == stat:
            return known
        summary = _grown(path, stat, known)
        if summary is None:
            summary = summarize(path)
        tail = "" if summary is None else tail_digest(path, summary.bytes)
    except OSError:
        return None
    return _Row(_key(path), stat, tail, summary)


def _grown(path: Path, stat: tuple[int, ...], known: _Row | None) -> Summary | None:
    """The summary of a file that only grew; None where that is not certain."""
    if known is None or known.summary is None or known.stat[:2] != stat[:2]:
        return None
    counted = known.summary.bytes
    # a last line without its end was counted, and may have gone on since
    if counted != known.stat[2] or stat[2] <= counted or known.tail != tail_digest(path, counted):
        return None
    try:
        return catch_up(path, known.summary)
    except RestartedError:
        return None
