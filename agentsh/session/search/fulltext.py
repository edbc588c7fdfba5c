"""Which entries may hold a word: an FTS5 table in the derived index, without any text in it.

A row is one line of a session file, and its number says where: file number and offset. The text
stays in the session file, which search reads again and judges itself (query.py), so the table need
only miss nothing. It holds each token once for each entry and no positions, which keeps it small.
A file that only grew is read from where its row ends; rows of a file that was replaced stay behind
under a number that nobody asks for, until half of the table is like that and it is made anew. Words
and checkpoint are one transaction, after the file (R11-R13). What could not be filed (locked, full,
damaged) is named, and searched without. Read next: database.py, search.py.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agentsh.errors import SessionError
from agentsh.files import is_absent
from agentsh.session.file.disk import Disk
from agentsh.session.file.log import SessionLog
from agentsh.session.format.lines import LineSpan, forward_lines
from agentsh.session.search.query import tokens
from agentsh.session.search.search import Filed
from agentsh.session.search.searchable import read_saying
from agentsh.session.store.database import IndexFile, Stat, stat_of, tail_digest
from agentsh.session.store.reader import Opener, open_reader

_OFFSET_BITS: Final = 36
_OFFSETS: Final = (1 << _OFFSET_BITS) - 1
_BATCH_BYTES = 16 << 20
_CREATE = (
    """
    CREATE TABLE IF NOT EXISTS said_in (
        no INTEGER PRIMARY KEY, path TEXT UNIQUE,
        dev INTEGER NOT NULL, ino INTEGER NOT NULL, size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL, bytes INTEGER NOT NULL, tail TEXT NOT NULL, cut INTEGER NOT NULL
    )
    """,
    """
    CREATE VIRTUAL TABLE IF NOT EXISTS said USING fts5(
        word, content='', columnsize=0, detail=none, tokenize='ascii'
    )
    """,
    "INSERT INTO said (said, rank) VALUES ('hashsize', 16777216)",
)


class _Row(Struct, frozen=True):
    no: int
    stat: Stat
    bytes: int
    tail: str
    cut: int


class TextIndex:
    """The full-text part of one index file."""

    def __init__(
        self, path: Path, *, opener: Opener = open_reader, least_dead: int = 16 << 20
    ) -> None:
        self._opener = opener
        self._file = IndexFile(path)
        self._least_dead = least_dead
        """Bytes of files that are no more, from which on it is worth to begin anew."""
        self.bytes_read = 0
        """Of session files, to catch up with them."""

    def look(
        self, paths: Iterable[Path], tokens: Sequence[tuple[str, bool]]
    ) -> Mapping[Path, Filed]:
        """Bring the index up to date, then ask it. A file that is left out was not filed."""
        files = [path for path in paths if _is_nameable(path)]
        for attempt in (1, 2):
            with self._file.database() as database:
                if database is None:
                    return {}
                try:
                    return self._look(database, files, tokens)
                except sqlite3.OperationalError:
                    return {}
                except sqlite3.DatabaseError:
                    pass  # damaged
            if attempt == 2 or not self._file.set_aside():
                break
        return {}

    def _look(
        self, database: sqlite3.Connection, files: list[Path], tokens: Sequence[tuple[str, bool]]
    ) -> Mapping[Path, Filed]:
        stats = {path: stat for path in files if (stat := _stat(path)) is not None}
        try:
            self._catch_up(database, stats)
        except sqlite3.OperationalError:
            database.rollback()  # another process is at it: what there is, counts
        filed = _rows(database)
        starts: dict[int, list[int]] = {}
        if tokens:
            spelled = " ".join(f'"{token}" *' if more else f'"{token}"' for token, more in tokens)
            rows = database.execute("SELECT rowid FROM said WHERE said MATCH ?", (spelled,))
            for (number,) in rows:
                starts.setdefault(number >> _OFFSET_BITS, []).append(number & _OFFSETS)
        return {
            path: Filed(row.bytes, starts.get(row.no, ()), _is_all(stat, row), row.cut)
            for path, stat in stats.items()
            if (row := filed.get(str(path))) is not None and _is_same(path, stat, row)
        }

    # ---- catching up ---------------------------------------------------------------------------

    def _catch_up(self, database: sqlite3.Connection, stats: Mapping[Path, Stat]) -> None:
        for statement in _CREATE if not _has_tables(database) else ():
            database.execute(statement)
        filed = _rows(database)
        stale = [
            path
            for path, stat in stats.items()
            if (row := filed.get(str(path))) is None or row.stat != stat
        ]
        if not stale:
            return
        database.execute("PRAGMA cache_size = -65536")
        waiting = 0
        for path in stale:
            if not database.in_transaction:
                database.execute("BEGIN IMMEDIATE")
            waiting += self._file_away(database, path)
            if waiting >= _BATCH_BYTES:
                database.commit()
                waiting = 0
        _sweep(database, {str(path) for path in stats}, self._least_dead)
        database.commit()

    def _file_away(self, database: sqlite3.Connection, path: Path) -> int:
        """Add what a file has gained; how many bytes were read."""
        row = _rows(database, str(path)).get(str(path))  # as of this transaction
        before = self.bytes_read
        try:
            stat = stat_of(path)
            if row is not None and row.stat == stat:
                return 0
            if row is not None and _only_grew(path, stat, row):
                self._add_grown(database, path, stat, row)
            else:
                self._add_whole(database, path, stat, row)
        except (OSError, SessionError):
            return 0
        return self.bytes_read - before

    def _add_grown(self, database: sqlite3.Connection, path: Path, stat: Stat, row: _Row) -> None:
        """Only what came in is read."""
        log = SessionLog.open(path, disk=Disk())
        try:
            lines = forward_lines(log.read, row.bytes, log.size)
            row = self._filed(database, replace(row, stat=stat), lines)
            self.bytes_read += log.size - row.bytes
        finally:
            log.close()
        _store(database, replace(row, tail=tail_digest(path, row.bytes)))

    def _add_whole(
        self,
        database: sqlite3.Connection,
        path: Path,
        stat: Stat,
        old: _Row | None,
    ) -> None:
        if old is not None:
            database.execute("UPDATE said_in SET path = NULL WHERE no = ?", (old.no,))
        with self._opener(path) as source:
            made = database.execute(
                "INSERT INTO said_in (path, dev, ino, size, mtime_ns, bytes, tail, cut)"
                " VALUES (?, 0, 0, 0, 0, 0, '', 0)",
                (str(path),),
            )
            row = _Row(made.lastrowid or 0, stat, source.opening.end, "", 0)
            row = self._filed(database, row, source.lines())
            self.bytes_read += source.size - row.bytes
            is_converted = source.is_converted
        # without a digest it never counts as grown: offsets of a converted file may all change
        tail = "" if is_converted else tail_digest(path, row.bytes)
        _store(database, replace(row, tail=tail))

    def _filed(self, database: sqlite3.Connection, row: _Row, lines: Iterable[LineSpan]) -> _Row:
        """File the whole lines; how far that went."""
        upto, cut = row.bytes, row.cut
        filed = []
        for line in lines:
            if not line.is_ended:
                break
            upto = line.end + 1
            saying = read_saying(line.data)
            if saying is not None:
                cut += saying.is_cut
                filed.append(((row.no << _OFFSET_BITS) + line.start, tokens(saying.text)))
        database.executemany("INSERT INTO said (rowid, word) VALUES (?, ?)", filed)
        self.bytes_read += upto - row.bytes
        return replace(row, bytes=upto, cut=cut)


def _store(database: sqlite3.Connection, row: _Row) -> None:
    database.execute(
        "UPDATE said_in SET dev = ?, ino = ?, size = ?, mtime_ns = ?, bytes = ?, tail = ?, cut = ?"
        " WHERE no = ?",
        (*row.stat, row.bytes, row.tail, row.cut, row.no),
    )


def _is_nameable(path: Path) -> bool:
    """SQLite takes no name that is no UTF-8."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _has_tables(database: sqlite3.Connection) -> bool:
    tables = database.execute(
        "SELECT count(*) FROM sqlite_master WHERE name IN ('said', 'said_in')"
    )
    return bool(tables.fetchone()[0] == 2)


def _rows(database: sqlite3.Connection, path: str | None = None) -> dict[str, _Row]:
    query = "SELECT no, path, dev, ino, size, mtime_ns, bytes, tail, cut FROM said_in WHERE "
    rows = (
        database.execute(query + "path IS NOT NULL")
        if path is None
        else database.execute(query + "path = ?", (path,))
    )
    return {
        name: _Row(no, (dev, ino, size, mtime), upto, tail, cut)
        for no, name, dev, ino, size, mtime, upto, tail, cut in rows
    }


def _sweep(database: sqlite3.Connection, files: set[str], least_dead: int) -> None:
    """Give up the rows of files that are gone; begin anew where most rows are of such."""
    for name, row in _rows(database).items():
        if name not in files and is_absent(name):
            database.execute("UPDATE said_in SET path = NULL WHERE no = ?", (row.no,))
    live, dead = database.execute(
        "SELECT total(bytes) FILTER (WHERE path IS NOT NULL),"
        " total(bytes) FILTER (WHERE path IS NULL) FROM said_in"
    ).fetchone()
    if dead > max(live, least_dead):
        database.execute("INSERT INTO said (said) VALUES ('delete-all')")
        database.execute("DELETE FROM said_in")


def _stat(path: Path) -> Stat | None:
    try:
        return stat_of(path)
    except OSError:
        return None  # gone


def _only_grew(path: Path, stat: Stat, row: _Row) -> bool:
    return (
        bool(row.tail)
        and row.stat[:2] == stat[:2]
        and stat[2] >= row.bytes
        and row.tail == tail_digest(path, row.bytes)
    )


def _is_same(path: Path, stat: Stat, row: _Row) -> bool:
    """Whether what was filed is still in the file, be it caught up with or not."""
    if row.stat == stat:
        return True
    now = _stat(path)  # it may have gone on since
    return now is not None and (row.stat == now or _only_grew(path, now, row))


def _is_all(stat: Stat, row: _Row) -> bool:
    return row.stat == stat and (row.bytes == stat[2] or not row.tail)
