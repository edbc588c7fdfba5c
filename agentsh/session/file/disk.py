"""The few calls to the operating system that a session file needs, as one value that is handed in.

So a test can hand in a disk that is full, faulty or read-only without touching the real one. No
decisions here; every method is one system call, and raises OSError as the system does.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from agentsh.files import PRIVATE_FILE, PRIVATE_FOLDER, open_regular

APPEND = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
CREATE = APPEND | os.O_CREAT | os.O_EXCL
READ_ONLY = os.O_RDONLY | os.O_CLOEXEC
# a FIFO in the place of a session must not block the program
_SAFE = os.O_NONBLOCK | os.O_NOCTTY


class Disk:
    """The real one."""

    def open(self, path: str, flags: int) -> int:
        """A descriptor; a file that is made is private from its first byte, whatever the umask."""
        fd = os.open(path, flags | _SAFE, PRIVATE_FILE)
        if flags & os.O_CREAT:
            try:
                os.fchmod(fd, PRIVATE_FILE)
            except PermissionError:
                pass  # a lock file that another user made: his to protect
            except OSError:
                os.close(fd)
                raise
        return fd

    def open_beside(self, path: str) -> int:
        """A file beside a session: made anew, or a regular file that is no link.

        Raises NotRegularError for anything else that has the name; nothing waits for it.
        """
        try:
            return self.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC)
        except FileExistsError:
            return open_regular(path, os.O_RDWR, follow=False)

    def duplicate(self, fd: int) -> int:
        """A second descriptor of the same open file."""
        return os.dup(fd)

    def close(self, fd: int) -> None:
        os.close(fd)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return os.write(fd, data)

    def pread(self, fd: int, count: int, offset: int) -> bytes:
        return os.pread(fd, count, offset)

    def fdatasync(self, fd: int) -> None:
        os.fdatasync(fd)

    def fsync(self, fd: int) -> None:
        os.fsync(fd)

    def ftruncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def fstat(self, fd: int) -> os.stat_result:
        return os.fstat(fd)

    def stat(self, path: str) -> os.stat_result:
        return Path(path).stat()

    def flock(self, fd: int) -> None:
        """Take the lock for writing, or raise BlockingIOError at once."""
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def unlink(self, path: str) -> None:
        Path(path).unlink()

    def replace(self, source: str, target: str) -> None:
        Path(source).replace(target)

    def mkdir(self, path: str) -> None:
        Path(path).mkdir(PRIVATE_FOLDER)
        Path(path).chmod(PRIVATE_FOLDER)

    def sync_folder(self, path: str) -> None:
        """Make the names in a folder durable."""
        fd = os.open(path, READ_ONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
