"""What lies about without use: found here, deleted only by `delete` of what was found.

A session, an archive, a backup or what a result names (outputs, blobs, checkpoints) is never a
leftover, however old it is (S10). What may be: spools without their session, locks of the dead,
drafts that were never finished, names that were taken for a file which never came (`give_name` of
files.py, where there are no hard links), folders with nothing in them, and trash older than asked
for.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from agentsh.errors import SessionError
from agentsh.files import is_folder, is_link, is_regular
from agentsh.session.file.disk import Disk
from agentsh.session.file.lock import acquire, live_holder
from agentsh.session.store.folders import SUFFIX
from agentsh.session.store.naming import id_in_name

_DRAFT_SECONDS = 24 * 3600.0
_SPOOLS = ".d"
_LOCK = ".lock"


class Leftover(Struct, frozen=True):
    """`kind` in words; `bytes` with all below it."""

    path: Path
    kind: str
    bytes: int


def leftovers(root: Path, trash: Path, *, now: float, trash_seconds: float) -> list[Leftover]:
    """Below the sessions folder and the trash folder; sorted by kind and path. Writes nothing."""
    leftovers = [*_of_store(root, now)]
    leftovers += [
        _leftover(folder, "old trash")
        for folder in _entries(trash)
        if is_folder(folder) and now - folder.stat().st_mtime > trash_seconds
    ]
    return sorted(leftovers, key=lambda one: (one.kind, str(one.path)))


def delete(leftovers: Iterable[Leftover]) -> Iterator[Leftover]:
    """Delete them; yields what is gone. One that is in use by now stays."""
    for one in leftovers:
        try:
            if one.kind == _KIND_LOCK:
                # a lock that can be taken has no holder, and letting go removes its file
                session = str(one.path).removesuffix(_LOCK)
                acquire(session, disk=Disk(), now="").release()
            elif one.kind == _KIND_FOLDER:
                one.path.rmdir()
            elif one.kind == _KIND_CLAIM and not _is_claim(one.path):
                continue  # something came meanwhile
            elif is_folder(one.path, follow=False):
                shutil.rmtree(one.path)
            else:
                one.path.unlink()
        except (OSError, SessionError):
            continue
        yield one


_KIND_LOCK = "lock of a process that is gone"
_KIND_FOLDER = "empty folder"
_KIND_CLAIM = "name without a file"


def _of_store(root: Path, now: float) -> Iterator[Leftover]:
    folders = [p for p in _entries(root) if is_folder(p, follow=False)]
    projects = [p for p in folders if not p.name.endswith(_SPOOLS)]
    for folder in (root, *projects):
        entries = _entries(folder)
        yield from _of_folder(entries, now)
        if folder != root and not entries:
            yield _leftover(folder, _KIND_FOLDER)


def _of_folder(entries: list[Path], now: float) -> Iterator[Leftover]:
    names = {path.name for path in entries}
    for path in entries:
        stem = path.name.removesuffix(_SPOOLS)
        if path.name.endswith(_SPOOLS) and is_folder(path, follow=False):
            if not names & {stem + SUFFIX, f"{stem}{SUFFIX}.zst"}:
                yield _leftover(path, "spools without their session")
        elif path.name.endswith(SUFFIX + _LOCK) and is_regular(path, follow=False):
            if live_holder(str(path).removesuffix(_LOCK)) is None:
                yield _leftover(path, _KIND_LOCK)
        elif path.name.startswith(".") and path.name.endswith(".new") and not is_link(path):
            if _is_old(path, now):
                yield _leftover(path, "draft that was never finished")
        elif _is_claim(path) and _is_old(path, now) and live_holder(str(path)) is None:
            yield _leftover(path, _KIND_CLAIM)


def _is_old(path: Path, now: float) -> bool:
    with suppress(OSError):
        return now - path.lstat().st_mtime > _DRAFT_SECONDS
    return False


def _is_claim(path: Path) -> bool:
    """A regular file with nothing in it, under a name that agentsh gives."""
    with suppress(OSError):
        status = path.lstat()
        named = id_in_name(path.name.removesuffix(".zst"))
        return named is not None and stat.S_ISREG(status.st_mode) and status.st_size == 0
    return False


def _leftover(path: Path, kind: str) -> Leftover:
    size = 0
    for folder, _, files in os.walk(path) if is_folder(path) else ():
        for name in files:
            with suppress(OSError):
                size += os.lstat(Path(folder, name)).st_size
    if not is_folder(path):
        with suppress(OSError):
            size = path.lstat().st_size
    return Leftover(path, kind, size)


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
