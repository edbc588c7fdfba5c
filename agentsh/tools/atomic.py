"""Replace a file's bytes whole or not at all: temporary file beside it, fsync, rename.

What stays: the symbolic link (its target is replaced), mode, owner and extended attributes where
the system lets us. What does not stay: a hard link. A rename gives this name new bytes and leaves
the other names their old ones; atomicity was chosen over the link (docs/adr/0017), and the caller
is told how many other names there are. A file that one may not write is not replaced, though a
rename could.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from agentsh.errors import ToolFailedError
from agentsh.tools.paths import failure, real, what_it_is


class Written(Struct, frozen=True):
    """What a write did. `other_names`: hard links that keep the old bytes."""

    path: Path
    stat: os.stat_result
    created: bool
    other_names: int = 0


def write_atomic(
    path: Path, data: bytes, name: str, *, unchanged: os.stat_result | None = None
) -> Written:
    """Write through links; parents are made. `unchanged`: refuse if the file is no longer that one.

    Raises ToolFailedError; then the file is as it was.
    """
    target = real(path)
    try:
        before = _existing(target, name)
        if unchanged is not None and (before is None or _version(before) != _version(unchanged)):
            raise ToolFailedError(f"{name} was changed by somebody else during this call")
        if before is None:
            target.parent.mkdir(parents=True, exist_ok=True)
        after = _replace(target, data, before)
    except OSError as e:
        raise _explained(name, e) from e
    except RecursionError as e:  # pathlib makes parents one inside the other
        raise ToolFailedError(f"{name[:80]}… has too many folders; nothing was written") from e
    others = 0 if before is None else before.st_nlink - 1
    return Written(target, after, before is None, others)


def _existing(target: Path, name: str) -> os.stat_result | None:
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise ToolFailedError(f"{name} is {what_it_is(found.st_mode)}, not a regular file")
    if not os.access(target, os.W_OK):
        raise ToolFailedError(f"{name} is write-protected (mode {stat.S_IMODE(found.st_mode):o})")
    return found


def _replace(target: Path, data: bytes, before: os.stat_result | None) -> os.stat_result:
    # a short name of its own: the target's may be as long as the file system allows
    temporary = target.with_name(f".agentsh-{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    # a new file gets what umask and folder say; one that replaces is closed until it has its mode
    fd = os.open(temporary, flags, 0o666 if before is None else 0o600)
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            if before is not None:
                _take_over(fd, target, before)
            os.fsync(fd)
            after = os.fstat(fd)
        finally:
            os.close(fd)
        os.replace(temporary, target)  # noqa: PTH105
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)
    return target.stat() if before is not None else after


def _take_over(fd: int, target: Path, before: os.stat_result) -> None:
    """Owner first (it clears set-id bits), then attributes (an ACL is one), then the mode."""
    own = os.fstat(fd)
    if (own.st_uid, own.st_gid) != (before.st_uid, before.st_gid):
        with suppress(OSError):
            os.fchown(fd, before.st_uid, before.st_gid)
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            for attribute in os.listxattr(target):
                with suppress(OSError):
                    os.setxattr(fd, attribute, os.getxattr(target, attribute))
    os.fchmod(fd, stat.S_IMODE(before.st_mode))


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where folders can be synced."""
    with suppress(OSError):
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _version(found: os.stat_result) -> tuple[int, int, int, int, int]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _explained(name: str, error: OSError) -> ToolFailedError:
    plain = failure(name, error)
    return ToolFailedError(f"{plain.message}; nothing was written")
