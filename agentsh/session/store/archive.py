"""Archived sessions: `<file>.jsonl.zst` where the session was, and back again, byte for byte.

The compressed file is read back and compared before the session's own goes, and neither way is
anything overwritten. Lists and ids leave archives out, since their name does not end in `.jsonl`;
`archives` finds them, `unpacked` reads one (a search needs no more). The only zstd: it is loaded by
those who archive or read an archive. Read next: store.py.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from agentsh.errors import RefusedError, SessionNotSavedError
from agentsh.files import create_private, give_name, is_regular, is_taken, open_foreign, real
from agentsh.session.file.disk import CREATE, Disk
from agentsh.session.file.lock import acquire
from agentsh.session.store.folders import SUFFIX
from agentsh.session.store.summary import Summary, summarize

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ARCHIVED = f"{SUFFIX}.zst"
_BLOCK = 1 << 20
MOST_UNPACKED = 64 << 20
"""Bytes that an archive of any size may unpack to in a list or a search …"""
_MOST_TIMES = 200
"""… or so many times its own: sessions are packed to a fifth, one line repeated to less."""
_Make: TypeAlias = Callable[[Path, int, Path], int]
"""SessionReader, the draft's descriptor and its name → the session's size."""


class Archived(Struct, frozen=True):
    """`packed` and `size`: bytes as it lies there, and as a session."""

    path: Path
    size: int
    packed: int


def archives(folders: Iterable[Path]) -> list[Path]:
    """The archives that lie in those folders; sorted, nothing opened."""
    paths = []
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                paths += [
                    Path(e.path)
                    for e in entries
                    if e.name.endswith(ARCHIVED) and is_regular(e.path)
                ]
        except OSError:
            continue
    return sorted(paths)


def unpacked(path: Path, *, is_asked_for: bool = False) -> Iterator[bytes]:
    """A session's bytes out of its archive, in blocks. Raises RefusedError where it is damaged.

    So it is, too, where it unpacks to what no session does; a few bytes can stand for any number.
    `is_asked_for`: a person wants this one back, whatever its size.
    """
    most = max(MOST_UNPACKED, _MOST_TIMES * path.stat().st_size)
    size = 0
    try:
        with open_foreign(path) as packed, zstd.open(packed, "rb") as file:
            while block := file.read(_BLOCK):
                size += len(block)
                if size > most and not is_asked_for:
                    raise RefusedError(
                        f"{path} unpacks to more than {most} bytes and is left out", path=str(path)
                    )
                yield block
    except (zstd.ZstdError, EOFError) as e:
        raise RefusedError(f"{path} is damaged: {e}", path=str(path)) from e


def summarize_archive(path: Path, scratch: Path) -> Summary | None:
    """What a list shows of it. `scratch`: a file that may be made for it, and is removed again."""
    scratch.unlink(missing_ok=True)
    fd = create_private(scratch)
    try:
        with os.fdopen(fd, "wb") as file:
            file.writelines(unpacked(path))
        return summarize(scratch)
    finally:
        scratch.unlink(missing_ok=True)


def archive_session(session: Path, *, now: str, disk: Disk | None = None) -> Archived:
    """Compress a session's file in its place. Raises SessionLockedError, SessionNotSavedError."""
    used = disk or Disk()
    target = session.with_name(session.name + ".zst")
    lock = acquire(str(real(session)), disk=used, now=now)
    try:
        size = _replaced(used, session, target, _pack)
    finally:
        lock.release()
    return Archived(target, size, target.stat().st_size)


def unarchive_session(packed: Path, *, disk: Disk | None = None) -> Archived:
    """Bring the session back. Raises RefusedError for what is there already or damaged."""
    target = packed.with_name(packed.name.removesuffix(".zst"))
    before = packed.stat().st_size
    size = _replaced(disk or Disk(), packed, target, _unpack)
    return Archived(target, size, before)


def _replaced(disk: Disk, source: Path, target: Path, make: _Make) -> int:
    """Make `target` of `source`, make sure of it, let `source` go; the session's size."""
    if is_taken(target):
        raise RefusedError(f"{target} exists already", path=str(target))
    draft = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        times = source.stat()
        fd = disk.open(str(draft), CREATE)
        try:
            size = make(source, fd, draft)
            disk.fsync(fd)
        finally:
            disk.close(fd)
        # the file's own time is no session's time, but other programs go by it
        os.utime(draft, ns=(times.st_atime_ns, times.st_mtime_ns))
        give_name(draft, target)
        disk.sync_folder(str(target.parent))
        disk.unlink(str(source))
        disk.sync_folder(str(target.parent))
    except FileExistsError:
        raise RefusedError(f"{target} exists already", path=str(target)) from None
    except OSError as e:
        reason = f"{source} stays as it is: {e.strerror or e}"
        raise SessionNotSavedError(reason, path=str(source)) from e
    finally:
        draft.unlink(missing_ok=True)
    return size


def _pack(source: Path, fd: int, draft: Path) -> int:
    digest, size = hashlib.sha256(), 0
    with (
        open_foreign(source) as plain,
        os.fdopen(fd, "wb", closefd=False) as raw,
        zstd.open(raw, "wb") as out,
    ):
        while block := plain.read(_BLOCK):
            digest.update(block)
            size += len(block)
            out.write(block)
    again = hashlib.sha256()
    for block in unpacked(draft, is_asked_for=True):
        again.update(block)
    if again.digest() != digest.digest():
        raise SessionNotSavedError(f"{source} could not be read back", path=str(source))
    return size


def _unpack(source: Path, fd: int, _draft: Path) -> int:
    size = 0
    with os.fdopen(fd, "wb", closefd=False) as out:
        for block in unpacked(source, is_asked_for=True):
            out.write(block)
            size += len(block)
    return size
