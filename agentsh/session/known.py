"""A list out of the index alone: one look at each file, one query, nothing decoded.

Theory. The index holds what was folded from each file, and what the system said of the file then
(device, inode, size, time). Where it says the same now, the row is the answer; every other file is
handed back by its name, to be folded anew by who can (index.py). So this module needs no JSON and
no msgspec, which take longer to load than 3,000 files to list (docs/adr/0005), and it can neither
write nor hang: the database is opened read-only, and only if it is a file. Whatever is wrong with
it means that nothing is known. Read next: indexfile.py, index.py.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterable

from agentsh.session.folders import project_folders, session_files

TYPE_CHECKING = False  # mypy takes it for true
if TYPE_CHECKING:
    from typing import Any

SCHEMA = 4
# a commit of another process takes less; who waits in vain folds the files itself
_WAIT_SECONDS = 0.2
_LARGEST = 1 << 63

Stat = tuple[int, int, int, int]
"""dev, ino, size, mtime_ns."""
Known = tuple[str, str, str, str, str, int, str | None]
"""updated, created, file, id, folder, messages, what it is called: a list's order is theirs."""

# a column of SQLite may hold what it was not declared for: such a row is not known
_QUERY = """
SELECT path, dev, ino, size, mtime_ns, updated, created, path, id, cwd, messages,
    coalesce(nullif(name, ''), nullif(title, ''), prompt) AS called
FROM file
WHERE path > ? AND path < ? AND typeof(messages) = 'integer'
    AND (typeof(updated), typeof(created), typeof(cwd)) = ('text', 'text', 'text')
    AND typeof(id) IN ('text', 'null') AND typeof(called) IN ('text', 'null')
"""


def look(root: str, folder: str | None, index: str) -> tuple[list[Known], list[str]]:
    """The sessions that are known, in no order, and the files that are not known as they lie there.

    `folder`: only those in the root itself and in this folder of it; None: everywhere.
    """
    found = _found((root,))
    if folder is None:
        under = root
        found |= _found(project_folders(root))
    else:
        under = root if found else folder
        found |= _found((folder,))
    known = []
    for row in _rows(index, under):
        if found.get(row[0]) == row[1:5]:
            del found[row[0]]
            if row[8] is not None:  # or it is no session
                known.append(row[5:])
    return known, list(found)


def _found(folders: Iterable[str]) -> dict[str, Stat]:
    found = {}
    for folder in folders:
        for entry in session_files(folder):
            try:
                found[entry.path] = numbers(entry.stat())
            except OSError:
                continue  # gone since
    return found


def _rows(index: str, under: str) -> list[tuple[Any, ...]]:
    bounds = (f"{under}/", f"{under}0")  # 0 comes next after /
    try:
        if not stat.S_ISREG(os.lstat(index).st_mode):
            return []
        database = sqlite3.connect(_uri(index), uri=True, timeout=_WAIT_SECONDS)
        try:
            (version,) = database.execute("PRAGMA user_version").fetchone()
            return database.execute(_QUERY, bounds).fetchall() if version == SCHEMA else []
        finally:
            database.close()
    except (OSError, sqlite3.Error, UnicodeEncodeError):
        return []


def _uri(path: str) -> bytes:
    raw = os.fsencode(path).replace(b"%", b"%25").replace(b"?", b"%3f").replace(b"#", b"%23")
    return b"file://" + raw + b"?mode=ro"


def numbers(info: os.stat_result) -> Stat:
    """As SQLite can hold them: device and inode use 64 bits, its integers 63."""
    dev, ino, time = info.st_dev, info.st_ino, info.st_mtime_ns
    if dev >= _LARGEST or ino >= _LARGEST:
        dev, ino = _signed(dev), _signed(ino)
    return dev, ino, info.st_size, time


def _signed(number: int) -> int:
    return number - 2 * _LARGEST if number >= _LARGEST else number
