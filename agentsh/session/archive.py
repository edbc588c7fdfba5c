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
from agentsh.session.disk import CREATE, Disk
from agentsh.session.folders import SUFFIX
from agentsh.session.listing import Summary, summarize
from agentsh.session.lock import acquire

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ARCHIVED = f"{SUFFIX}.zst"
_BLOCK = 1 << 20
_Make: TypeAlias = Callable[[Path, int, Path], int]
"""Source, the draft's descriptor and its name → the session's size."""


class Archived(Struct, frozen=True):
    """`packed` and `size`: bytes as it lies there, and as a session."""

    path: Path
    size: int
    packed: int


def archives(folders: Iterable[Path]) -> list[Path]:
    """The archives that lie in those folders; sorted, nothing opened."""
    found = []
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                found += [
                    Path(e.path) for e in entries if e.name.endswith(ARCHIVED) and e.is_file()
                ]
        except OSError:
            continue
    return sorted(found)


def unpacked(path: Path) -> Iterator[bytes]:
    """A session's bytes out of its archive, in blocks. Raises RefusedError where it is damaged."""
    try:
        with zstd.open(path, "rb") as file:
            while block := file.read(_BLOCK):
                yield block
    except (zstd.ZstdError, EOFError) as e:
        raise RefusedError(f"{path} is damaged: {e}", path=str(path)) from e


def summarize_archive(path: Path, scratch: Path) -> Summary | None:
    """What a list shows of it. `scratch`: a file that may be made for it, and is removed again."""
    fd = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.writelines(unpacked(path))
        return summarize(scratch)
    finally:
        scratch.unlink(missing_ok=True)


def archive(session: Path, *, now: str, disk: Disk | None = None) -> Archived:
    """Compress a session's file in its place. Raises SessionLockedError, SessionNotSavedError."""
    used = disk or Disk()
    target = session.with_name(session.name + ".zst")
    lock = acquire(str(session.resolve()), disk=used, now=now)
    try:
        size = _replaced(used, session, target, _pack)
    finally:
        lock.release()
    return Archived(target, size, target.stat().st_size)


def unarchive(packed: Path, *, disk: Disk | None = None) -> Archived:
    """Bring the session back. Raises RefusedError for what is there already or damaged."""
    target = packed.with_name(packed.name.removesuffix(".zst"))
    before = packed.stat().st_size
    size = _replaced(disk or Disk(), packed, target, _unpack)
    return Archived(target, size, before)


def _replaced(disk: Disk, source: Path, target: Path, make: _Make) -> int:
    """Make `target` of `source`, make sure of it, let `source` go; the session's size."""
    if target.exists() or target.is_symlink():
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
        os.link(draft, target)
        disk.sync_folder(str(target.parent))
        disk.unlink(str(source))
        disk.sync_folder(str(target.parent))
    except FileExistsError:
        raise RefusedError(f"{target} exists already", path=str(target)) from None
    except OSError as e:
        words = f"{source} stays as it is: {e.strerror or e}"
        raise SessionNotSavedError(words, path=str(source)) from e
    finally:
        draft.unlink(missing_ok=True)
    return size


def _pack(source: Path, fd: int, draft: Path) -> int:
    digest, size = hashlib.sha256(), 0
    with (
        source.open("rb") as plain,
        os.fdopen(fd, "wb", closefd=False) as raw,
        zstd.open(raw, "wb") as out,
    ):
        while block := plain.read(_BLOCK):
            digest.update(block)
            size += len(block)
            out.write(block)
    again = hashlib.sha256()
    for block in unpacked(draft):
        again.update(block)
    if again.digest() != digest.digest():
        raise SessionNotSavedError(f"{source} could not be read back", path=str(source))
    return size


def _unpack(source: Path, fd: int, _draft: Path) -> int:
    size = 0
    with os.fdopen(fd, "wb", closefd=False) as out:
        for block in unpacked(source):
            out.write(block)
            size += len(block)
    return size
