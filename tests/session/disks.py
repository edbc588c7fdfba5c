"""Disks that fail: handed in where the real one would be."""

from __future__ import annotations

import errno
import os
import random

from agentsh.session.file.disk import Disk
from agentsh.session.file.environment import Surroundings
from agentsh.session.health.repair import NOTHING_KNOWN, Evidence


class CountingDisk(Disk):
    """Remembers what was done; `order` in short words."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.bytes_read = 0
        self.bytes_written = 0

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self.order.append("write")
        done = super().write(fd, data)
        self.bytes_written += done
        return done

    def pread(self, fd: int, count: int, offset: int) -> bytes:
        data = super().pread(fd, count, offset)
        self.bytes_read += len(data)
        return data

    def fdatasync(self, fd: int) -> None:
        self.order.append("sync")
        super().fdatasync(fd)

    def fsync(self, fd: int) -> None:
        self.order.append("sync")
        super().fsync(fd)

    def sync_folder(self, path: str) -> None:
        self.order.append("folder")
        super().sync_folder(path)


class QuickDisk(Disk):
    """Waits for nothing to be durable: for tests that write thousands of times."""

    def fdatasync(self, fd: int) -> None:
        pass

    def fsync(self, fd: int) -> None:
        pass

    def sync_folder(self, path: str) -> None:
        pass


class FaultyDisk(CountingDisk):
    """Has `room` for so many bytes (None: for all); fails the calls named in `broken`."""

    def __init__(
        self, room: int | None = None, broken: set[str] | None = None, error: int = errno.EIO
    ) -> None:
        super().__init__()
        self.room = room
        self.broken = broken if broken is not None else set()
        self.error = error

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self._fail("write")
        if self.room is not None:
            if self.room == 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            data = data[: self.room]
            self.room -= len(data)
        return super().write(fd, data)

    def fdatasync(self, fd: int) -> None:
        self._fail("sync")
        super().fdatasync(fd)

    def fsync(self, fd: int) -> None:
        self._fail("sync")
        super().fsync(fd)

    def ftruncate(self, fd: int, size: int) -> None:
        self._fail("truncate")
        super().ftruncate(fd, size)

    def flock(self, fd: int) -> None:
        self._fail("lock")
        super().flock(fd)

    def open(self, path: str, flags: int) -> int:
        if flags & (os.O_RDWR | os.O_WRONLY):
            self._fail("open")
        return super().open(path, flags)

    def _fail(self, call: str) -> None:
        if call in self.broken:
            raise OSError(self.error, os.strerror(self.error))


class Clock:
    """A second later each time that it is read."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def no_evidence(
    *_: object, torn_line: int | None = None, torn_bytes: int | None = None
) -> Evidence:
    if torn_line is None:
        return NOTHING_KNOWN
    return Evidence(torn_line=torn_line, torn_bytes=torn_bytes)


def around(disk: Disk | None = None) -> Surroundings:
    return Surroundings(disk or Disk(), Clock(), no_evidence, random.Random(7).randbytes)
