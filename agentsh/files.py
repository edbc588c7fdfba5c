"""The one door for files: what lies there is foreign, what is written there is private and whole.

Reading: only a regular file is opened, bounded, without waiting; a pipe, a device, a folder or
(with `follow=False`) a link is an OSError as any other. Files beside a session and in a project can
be put there by somebody else, so nothing of this kind is opened in any other way (who opens a file
elsewhere stands with the reason in tests/test_doors.py). Writing: 0600
from the first byte, whole or not at all, and nothing is overwritten under a name that must be free.
Beside them the two questions about a process in a file: which boot it belongs to, whether it lives.
It knows no format, no session and no words for people; who calls says what the file is. Read next:
session/file/disk.py (the calls of a session's own file, handed in so that they can fail).
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_LARGEST_PID = 2**31 - 1
# opening a pipe must not wait for its other end, and a terminal must not become ours
_NO_WAIT = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_COPY_BLOCK = 1 << 20
_EXCHANGED = 50
"""How often a path is resolved anew that somebody changes all the time."""


class NotRegularError(OSError):
    """What has the name is no regular file, or a link that was not followed."""

    def __init__(self, path: Path | str) -> None:
        super().__init__(errno.EINVAL, "Not a regular file", str(path))


class TooLargeError(OSError):
    """The file has more bytes than are taken."""

    def __init__(self, path: Path | str, most: int) -> None:
        super().__init__(errno.EFBIG, f"Larger than {most} bytes", str(path))
        self.most = most


def from_home(word: os.PathLike[str] | str) -> Path:
    """`~/x` and `~name/x` as a shell means them: a name that nobody has stays as it is."""
    return Path(os.path.expanduser(word))  # noqa: PTH111  # pathlib's raises for nobody's name


# ---- reading what is not ours --------------------------------------------------------------------


def open_regular(
    path: Path | str,
    flags: int = os.O_RDONLY,
    *,
    follow: bool = True,
    folder: int | None = None,
) -> int:
    """A descriptor of a regular file; never waits. `path` is below `folder` if that is given.

    The kind is looked at before, since opening a device may do something, and after, since it may
    have been exchanged in between. Raises OSError, NotRegularError for any other kind.
    """
    try:
        before = os.stat(path, dir_fd=folder, follow_symlinks=follow)
        if not stat.S_ISREG(before.st_mode):
            raise NotRegularError(path)
        no_link = 0 if follow else os.O_NOFOLLOW
        descriptor = os.open(path, flags | _NO_WAIT | no_link, dir_fd=folder)
    except ValueError as e:  # a NUL in the name
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(path)) from e
    except OSError as e:
        if e.errno == errno.ELOOP and not follow:
            raise NotRegularError(path) from e
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotRegularError(path)
    return descriptor


def open_foreign(
    path: Path | str, *, follow: bool = True, folder: int | None = None, buffering: int = -1
) -> BinaryIO:
    """A regular file to be read, as a file object. Raises OSError."""
    return os.fdopen(open_regular(path, follow=follow, folder=folder), "rb", buffering)


def read_foreign(
    path: Path | str, most: int, *, follow: bool = True, folder: int | None = None
) -> bytes:
    """All bytes of a regular file, at most `most`. Raises OSError, TooLargeError for more."""
    with open_foreign(path, follow=follow, folder=folder) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise TooLargeError(path, most)
    return data


def read_end(
    path: Path | str, most: int, *, follow: bool = True, folder: int | None = None
) -> bytes:
    """The last bytes of a regular file, at most `most`. Raises OSError."""
    with open_foreign(path, follow=follow, folder=folder) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - most))
        return file.read(most)


def real(path: Path) -> Path:
    """All links resolved, also where the last parts do not exist yet; a loop of them stays."""
    for _ in range(_EXCHANGED):
        try:
            return Path(os.path.realpath(path))
        except OSError:  # a link on the way became something else in that very moment
            continue
    return Path(os.path.realpath(path))


# Whoever asks pathlib these questions meets its PermissionError where a folder above is closed.


def is_there(path: Path | str) -> bool:
    """Whether anything of that name can be seen, links followed. Never raises, as those below."""
    return _mode(path) != 0


def is_taken(path: Path | str) -> bool:
    """The same, and a link that leads nowhere takes its name, too."""
    return _mode(path, follow=False) != 0


def is_link(path: Path | str) -> bool:
    """Whether the name itself is that of a link."""
    return stat.S_ISLNK(_mode(path, follow=False))


def is_folder(path: Path | str, *, follow: bool = True) -> bool:
    """Whether such a folder can be seen; a name that no folder can have is none."""
    return stat.S_ISDIR(_mode(path, follow=follow))


def is_regular(path: Path | str, *, follow: bool = True) -> bool:
    """The same of a regular file."""
    return stat.S_ISREG(_mode(path, follow=follow))


def is_absent(path: Path | str, *, follow: bool = True) -> bool:
    """Whether nothing has that name for sure; what we are not let see may be there."""
    try:
        Path(path).stat(follow_symlinks=follow)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return True
    except OSError:
        return False
    return False


def _mode(path: Path | str, *, follow: bool = True) -> int:
    """0 where nothing can be seen; nothing that is there has a mode of 0."""
    try:
        return Path(path).stat(follow_symlinks=follow).st_mode
    except (OSError, ValueError):
        return 0


def open_folder(path: Path | str) -> int:
    """A descriptor of a folder that is no link, for `folder=`. Raises OSError."""
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except ValueError as e:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(path)) from e


# ---- writing what is ours ------------------------------------------------------------------------


def private_folder(folder: Path) -> Path:
    """Make a folder and what is missing above it, each 0700. Raises OSError."""
    missing = []
    ancestor = folder
    while not is_folder(ancestor) and ancestor != ancestor.parent:
        missing.append(ancestor)
        ancestor = ancestor.parent
    for one in reversed(missing):
        one.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    return folder


def create_private(path: Path | str, *, folder: int | None = None) -> int:
    """A descriptor for writing a file that was not there before, 0600. Raises OSError."""
    return os.open(path, _NEW, PRIVATE_FILE, dir_fd=folder)


def append_private(path: Path, data: bytes) -> None:
    """Add to the end of a regular file in one write; it is made if need be. Raises OSError."""
    private_folder(path.parent)
    try:
        descriptor = create_private(path)
    except FileExistsError:
        descriptor = open_regular(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes | memoryview) -> None:
    """All of it, or an OSError: a full disk may take a part first."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def write_private(path: Path, data: bytes) -> None:
    """Replace a file whole or not at all, 0600; folders are made. Raises OSError.

    The old file stays until the new one is on the disk, so neither a full disk nor a power cut
    leaves a part of it.
    """
    private_folder(path.parent)
    draft = _draft(path)
    try:
        _fill(draft, [data])
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_new(path: Path, pieces: Iterable[bytes]) -> None:
    """Make a file whole or not at all, 0600. Raises FileExistsError, OSError."""
    draft = _draft(path)
    try:
        _fill(draft, pieces)
        give_name(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def give_name(draft: Path, target: Path) -> None:
    """Move a file to a name that must be free. Raises FileExistsError, OSError.

    A hard link never overwrites. Where the file system has none (exFAT, SMB, many FUSE) an empty
    file takes the name first, which cannot overwrite either, and the rename replaces only that.
    """
    try:
        os.link(draft, target)
    except FileExistsError:
        raise
    except OSError:
        _claim_and_rename(draft, target)
    else:
        draft.unlink()


def _claim_and_rename(draft: Path, target: Path) -> None:
    claim = create_private(target)
    try:
        try:
            ours, named = os.fstat(claim), target.lstat()
            if (ours.st_dev, ours.st_ino, ours.st_size) != (named.st_dev, named.st_ino, 0):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        finally:
            os.close(claim)
        draft.replace(target)
    except FileExistsError:
        raise
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def copy_to_free_name(source: Path, target: Path) -> None:
    """A copy with mode and times, whole or not there, also across file systems. Raises OSError."""
    draft = _draft(target)
    try:
        with open_foreign(source) as file:
            about = os.fstat(file.fileno())
            _fill(draft, iter(lambda: file.read(_COPY_BLOCK), b""))
        draft.chmod(stat.S_IMODE(about.st_mode))
        os.utime(draft, ns=(about.st_atime_ns, about.st_mtime_ns))
        give_name(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where folders can be synced."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _draft(path: Path) -> Path:
    """A name beside it that no reader looks at; short, as the file's own may be as long as it can.

    It ends in `.new`, by which what a killed process left is found again
    (session/store/leftovers.py).
    """
    return path.with_name(f".agentsh-{os.urandom(8).hex()}.new")


def _fill(draft: Path, pieces: Iterable[bytes]) -> None:
    descriptor = create_private(draft)
    try:
        for piece in pieces:
            write_all(descriptor, piece)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# ---- processes that a file names -----------------------------------------------------------------


def boot_id() -> str:
    """Changes with each start of the machine; "" where the system does not say."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def is_alive(pid: int) -> bool:
    """Whether such a process runs; a number that no process can have is one that does not."""
    if not 0 < pid <= _LARGEST_PID:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
