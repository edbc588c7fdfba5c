"""Replace a file's bytes whole or not at all: temporary file beside it, fsync, rename.

The path is a real one, as the policy judged it, and is walked without following a link
(anchored.py). What stays: mode, owner and extended attributes where the system lets us. What does
not stay: a hard link. A rename gives this name new bytes and leaves the other names their old ones;
atomicity was chosen over the link (docs/adr/0017), and the caller is told how many other names
there are. A file that one may not write is not replaced, though a rename could. The working folder
is never made: where it is gone, that is an error.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from agentsh.errors import ToolFailedError
from agentsh.files import is_folder, open_regular, real, write_all
from agentsh.tools.files import anchored
from agentsh.tools.files.paths import failure, what_it_is


class Written(Struct, frozen=True):
    """What a write did. `other_names`: hard links that keep the old bytes."""

    path: Path
    stat: os.stat_result
    created: bool
    other_names: int = 0


def write_atomic(
    target: Path,
    data: bytes,
    name: str,
    *,
    cwd: Path,
    unchanged: os.stat_result | None = None,
) -> Written:
    """Write to a real path; parents are made. `unchanged`: refuse if it is no longer that file.

    Raises ToolFailedError; then the file is as it was.
    """
    if not is_folder(cwd):
        raise ToolFailedError(f"the working folder is gone: {cwd}; nothing was written")
    try:
        with anchored.parent_of(target, make=unchanged is None, keep=real(cwd)) as folder:
            before = _existing(folder, target.name, name)
            if unchanged is not None and (
                before is None or _version(before) != _version(unchanged)
            ):
                raise ToolFailedError(f"{name} was changed by somebody else during this call")
            after = _replace(folder, target.name, data, before)
    except OSError as e:
        raise _explained(name, e) from e
    others = 0 if before is None else before.st_nlink - 1
    return Written(target, after, before is None, others)


def _existing(folder: int, last: str, name: str) -> os.stat_result | None:
    status = anchored.status_in(folder, last)
    if status is None:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise ToolFailedError(f"{name} is {what_it_is(status.st_mode)}, not a regular file")
    if not os.access(last, os.W_OK, dir_fd=folder):
        raise ToolFailedError(f"{name} is write-protected (mode {stat.S_IMODE(status.st_mode):o})")
    return status


def _replace(folder: int, last: str, data: bytes, before: os.stat_result | None) -> os.stat_result:
    temporary = anchored.new_name()
    # a new file gets what umask and folder say; one that replaces is closed until it has its mode
    fd = anchored.create_in(folder, temporary, 0o666 if before is None else 0o600)
    try:
        try:
            write_all(fd, data)
            if before is not None:
                _take_over(fd, folder, last, before)
            os.fsync(fd)
        finally:
            os.close(fd)
        anchored.replace_in(folder, temporary, last)
    except BaseException:
        with suppress(OSError):
            anchored.remove_in(folder, temporary)
        raise
    anchored.sync_in(folder)
    after = anchored.status_in(folder, last)
    if after is None:
        raise OSError(errno.ENOENT, "somebody removed it at once")
    return after


def _take_over(fd: int, folder: int, last: str, before: os.stat_result) -> None:
    """Owner first (it clears set-id bits), then attributes (an ACL is one), then the mode."""
    own = os.fstat(fd)
    if (own.st_uid, own.st_gid) != (before.st_uid, before.st_gid):
        with suppress(OSError):
            os.fchown(fd, before.st_uid, before.st_gid)
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            old = open_regular(last, follow=False, folder=folder)
            try:
                for attribute in os.listxattr(old):
                    with suppress(OSError):
                        os.setxattr(fd, attribute, os.getxattr(old, attribute))
            finally:
                os.close(old)
    os.fchmod(fd, stat.S_IMODE(before.st_mode))


def _version(status: os.stat_result) -> tuple[int, int, int, int, int]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _explained(name: str, error: OSError) -> ToolFailedError:
    if error.errno in (errno.ELOOP, errno.ENOTDIR):  # Linux says the latter of links, too
        return ToolFailedError(f"{name}: a folder of it is a file or a link; nothing was written")
    plain = failure(name, error)
    return ToolFailedError(f"{plain.message}; nothing was written")
