"""Files by real path, opened folder by folder without following a link: what was judged is it.

Whoever judges a path resolves it first (paths.py). Between that and the use a folder of it may
become a link; opened by its name, it would lead elsewhere. Here each folder is opened in the one
before it, links refused, and the last step is a system call on that folder's descriptor. A link in
the way is an OSError. It decides nothing, and it makes no folder that the caller did not ask for.
Read next: atomic.py, undo.py.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
"""O_PATH: a folder that one may pass through need not be readable."""

_LONGEST = 4096


@contextmanager
def parent_of(path: Path, *, make: bool = False, keep: Path | None = None) -> Iterator[int]:
    """The descriptor of the folder that holds a real path. Raises OSError.

    `make`: missing folders are made, but never `keep` itself, nor one that it lies in.
    """
    if len(os.fsencode(path)) >= _LONGEST:  # nobody could open it by its name
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    fd = os.open(path.anchor or "/", _FOLDER)
    try:
        entered = Path(path.anchor or "/")
        for name in path.parts[1:-1]:
            entered /= name
            inner = _enter(fd, name, make=make and not (keep is not None and _holds(entered, keep)))
            os.close(fd)
            fd = inner
        yield fd
    finally:
        os.close(fd)


@contextmanager
def looking_into(path: Path) -> Iterator[Iterator[os.DirEntry[str]]]:
    """What lies in a folder, by its real path, while the block runs. Raises OSError."""
    with parent_of(path / "_") as folder:
        fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            with os.scandir(fd) as scan:
                yield scan
        finally:
            os.close(fd)


def _holds(folder: Path, inner: Path) -> bool:
    return inner == folder or folder in inner.parents


def _enter(fd: int, name: str, *, make: bool) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=fd)
    except FileNotFoundError:
        if not make:
            raise
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=fd)
    return os.open(name, _FOLDER, dir_fd=fd)


def status_in(folder: int, name: str) -> os.stat_result | None:
    """What lies there, a link as a link; None: nothing. Raises OSError."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def status_of(path: Path) -> os.stat_result | None:
    """The same for a real path; None also where a folder of it is missing, or is none."""
    try:
        with parent_of(path) as folder:
            return status_in(folder, path.name)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as e:
        if e.errno == errno.ELOOP:
            return None
        raise


def new_name() -> str:
    """A short name of its own: the target's may be as long as the file system allows."""
    return f".agentsh-{os.urandom(8).hex()}.tmp"


def create_in(folder: int, name: str, mode: int) -> int:
    """A descriptor of a new file."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(name, flags, mode, dir_fd=folder)


def replace_in(folder: int, temporary: str, name: str) -> None:
    """Give the finished file its name."""
    os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def remove_in(folder: int, name: str) -> None:
    os.unlink(name, dir_fd=folder)


def sync_in(folder: int) -> None:
    """Make a rename in it durable, where folders can be synced."""
    with suppress(OSError):
        fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def drop_empty(path: Path, *, below: Path) -> None:
    """Remove the folders of a path that are empty, from the inside out; never `below` itself."""
    for folder in path.parents:
        if folder == below or below not in folder.parents:
            return
        try:
            with parent_of(folder) as outer:
                os.rmdir(folder.name, dir_fd=outer)
        except OSError:
            return  # not empty, or gone


def drop_hollow(folder: int, name: str) -> None:
    """Remove a folder in which there are only folders. Raises OSError: there is more in it."""
    fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        for inner in _names(fd):
            status = status_in(fd, inner)
            if status is None or not stat.S_ISDIR(status.st_mode):
                raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
        for inner in _names(fd):
            drop_hollow(fd, inner)
    finally:
        os.close(fd)
    os.rmdir(name, dir_fd=folder)


def _names(fd: int) -> Sequence[str]:
    return os.listdir(fd)
