"""Copies files with their times and modes; by reference where the file system can. No git here.

What is copied may change meanwhile: a file that is gone by then is left out, and the copy says what
it copied. Read next: basing.py.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path

from agentsh.files import is_folder

_FICLONE = 0x40049409
_BLOCK = 1 << 30


def copy_paths(source: Path, target: Path, paths: Iterable[bytes]) -> tuple[bytes, ...]:
    """Copy those paths of one folder into another; which ones were there. Raises OSError."""
    top, there = os.fsencode(source), os.fsencode(target)
    made: set[bytes] = set()
    copied: list[bytes] = []
    for path in paths:
        folder = os.path.dirname(path)  # noqa: PTH120 - names need not be text
        if folder not in made:
            os.makedirs(there + b"/" + folder, exist_ok=True)  # noqa: PTH103
            made.add(folder)
        try:
            if copy_one(top + b"/" + path, there + b"/" + path):
                copied.append(path)
        except OSError as e:  # with a name that a person can read
            raise OSError(e.errno, e.strerror, os.fsdecode(path)) from e
    for folder in sorted(made, reverse=True):
        _like(top + b"/" + folder, there + b"/" + folder)
    return tuple(copied)


def copy_one(source: bytes, target: bytes) -> bool:
    """One file, link or empty folder; False: it is not there any more. Raises OSError."""
    try:
        status = os.lstat(source)
        if stat.S_ISLNK(status.st_mode):
            os.symlink(os.readlink(source), target)  # noqa: PTH115, PTH211
        elif stat.S_ISDIR(status.st_mode):
            os.makedirs(target, exist_ok=True)  # noqa: PTH103
        else:
            _copy_data(source, target)
    except FileNotFoundError:
        return False
    _like(source, target)
    return True


def _copy_data(source: bytes, target: bytes) -> None:
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            _fill(reading, writing)
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _fill(reading: int, writing: int) -> None:
    try:
        fcntl.ioctl(writing, _FICLONE, reading)
    except OSError:
        while _copy_range(reading, writing):
            pass


def _copy_range(reading: int, writing: int) -> int:
    try:
        return os.copy_file_range(reading, writing, _BLOCK)
    except OSError:  # other file systems, old kernels
        data = os.read(reading, 1 << 20)
        while data:
            data = data[os.write(writing, data) :]
        return os.lseek(reading, 0, os.SEEK_CUR) < os.fstat(reading).st_size


def _like(source: bytes, target: bytes) -> None:
    """The same mode and times; a folder that is gone meanwhile is left as it is."""
    try:
        shutil.copystat(source, target, follow_symlinks=False)
    except FileNotFoundError:
        return


def copy_tree(source: Path, target: Path) -> None:
    """A file, a link, or a folder with all in it; links as links. Raises OSError."""
    if is_folder(source, follow=False):
        shutil.copytree(source, target, symlinks=True)
    else:
        shutil.copy2(source, target, follow_symlinks=False)


def remove_tree(path: Path) -> None:
    """A file, or a folder with all in it, closed folders too; no link is followed. Raises OSError.

    A folder is opened up before it is read: a name below one that is closed is not seen.
    """
    if not is_folder(path, follow=False):
        path.unlink(missing_ok=True)
        return
    _open_up(os.fsencode(path))
    for folder, folders, _ in os.walk(os.fsencode(path)):
        for name in folders:
            _open_up(folder + b"/" + name)
    shutil.rmtree(path)


def _open_up(folder: bytes) -> None:
    mode = os.lstat(folder).st_mode
    if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(folder, mode | stat.S_IRWXU)  # noqa: PTH101 - names need not be text
