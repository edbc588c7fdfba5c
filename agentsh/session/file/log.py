"""The append-only file of a session: bytes in order, durable where asked, nothing else (H01).

Theory (docs/adr/0006). The file only grows, but for one case: a write or a sync that failed is cut
off again, so that the file never holds half a batch of ours. `size` is how far the file is known;
before each write the file must still be that long and still have its name, otherwise somebody else
wrote to it and we refuse rather than interleave (Pi has no lock). One batch is one write. A last
line without LF is ended by an LF that goes out with the next batch. It knows no JSON.
Read next: session.py, memory_log.py (the same in memory).
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

from agentsh.errors import SessionChangedError, SessionNotFoundError, SessionNotSavedError
from agentsh.files import is_there
from agentsh.session.file.disk import APPEND, CREATE, READ_ONLY, Disk

_BLOCK = 1 << 20
# folders of some file systems cannot be synced; the file itself was
_NO_FOLDER_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EACCES})


class SessionLog:
    """One file. `create` makes no file yet: that happens with the first commit."""

    def __init__(self, path: Path, *, disk: Disk, fd: int | None) -> None:
        self.path = path
        self._disk = disk
        self._name = str(path)
        self._reader = fd
        self._writer: int | None = None
        self.size = 0
        self.durable_size = 0
        self._partial = 0
        """Bytes of ours behind `size` that could not be cut off."""
        self._changed = False
        if fd is not None:
            self.size = self.durable_size = disk.fstat(fd).st_size

    @classmethod
    def create(cls, path: Path, *, disk: Disk) -> SessionLog:
        return cls(path, disk=disk, fd=None)

    @classmethod
    def open(cls, path: Path, *, disk: Disk) -> SessionLog:
        """Raises SessionNotFoundError where there is no readable regular file."""
        try:
            fd = disk.open(str(path), READ_ONLY)
        except FileNotFoundError:
            raise SessionNotFoundError(f"no such file: {path}", path=str(path)) from None
        except (OSError, ValueError) as e:
            raise SessionNotFoundError(f"cannot read {path}: {e}", path=str(path)) from e
        if not _is_regular(disk.fstat(fd)):
            disk.close(fd)
            raise SessionNotFoundError(f"not a session file: {path}", path=str(path))
        return cls(path, disk=disk, fd=fd)

    def twin(self) -> SessionLog:
        """The same open file by a descriptor of its own, to be read by another thread: what closes
        this one takes nothing away from it."""
        assert self._reader is not None
        return SessionLog(self.path, disk=self._disk, fd=self._disk.duplicate(self._reader))

    def read(self, start: int, end: int) -> bytes:
        """The bytes of that range; fewer at the end of the file."""
        fd = self._writer if self._reader is None else self._reader
        if fd is None:
            return b""
        end = min(end, self.size)
        parts: list[bytes] = []
        while start < end:
            part = self._disk.pread(fd, end - start, start)
            if not part:
                break
            parts.append(part)
            start += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def commit(self, data: bytes, *, durable: bool) -> int:
        """Append the bytes; where they begin. With `durable`, all so far is on the disk after it.

        Raises SessionNotSavedError (nothing of `data` is in the file; where a sync failed, nothing
        since the last durable point is: `size` says so) and SessionChangedError (not written).
        """
        created = self._open_writer()
        fd = self._writer
        assert fd is not None
        self._refuse_foreign(fd)
        start = self.size
        written = 0
        back = start
        try:
            written = self._write(fd, data)
            if durable:
                back = self.durable_size
                (self._disk.fsync if created else self._disk.fdatasync)(fd)
                if created:
                    self._sync_folder()
        except _PartlyWrittenError as e:
            self._cut_back(fd, start, e.written)
            raise self._not_saved(e.cause) from e
        except OSError as e:
            self._cut_back(fd, back, start + written - back)
            raise self._not_saved(e) from e
        except BaseException:  # a signal in the middle: how much went out is not known
            self._cut_back(fd, start, self._ours_behind(fd, start, data))
            raise
        self.size = start + len(data)
        if self._disk.fstat(fd).st_size != self.size:
            self._changed = True
            raise self._foreign()
        if durable:
            self.durable_size = self.size
        return start

    def close(self) -> None:
        for fd in (self._reader, self._writer):
            if fd is not None:
                self._disk.close(fd)
        self._reader = self._writer = None

    def __del__(self) -> None:
        """Of a log that nobody holds any more no file stays open."""
        with suppress(OSError):
            self.close()

    # ---- writing -------------------------------------------------------------------------------

    def _open_writer(self) -> bool:
        """True if this made the file."""
        if self._writer is not None:
            return False
        created = self._reader is None
        try:
            if created:
                make_durable_folder(self._disk, self.path.parent)
            self._writer = self._disk.open(self._name, CREATE if created else APPEND)
        except FileExistsError as e:
            raise SessionChangedError(
                f"{self.path} came into being meanwhile", path=self._name
            ) from e
        except OSError as e:
            raise self._not_saved(e) from e
        return created

    def _write(self, fd: int, data: bytes) -> int:
        view = memoryview(data)
        done = 0
        try:
            while done < len(view):
                # more than one turn only where the disk took a part: then the next one fails
                done += self._disk.write(fd, view[done:] if done else data)
        except OSError as e:
            raise _PartlyWrittenError(e, done) from e
        return done

    def _refuse_foreign(self, fd: int) -> None:
        status = self._disk.fstat(fd)
        # another file under the name, or none: what we would write nobody would find
        if self._changed or not self._has_name(status):
            self._changed = True
            raise self._foreign()
        if self._partial and status.st_size == self.size + self._partial:
            try:
                self._disk.ftruncate(fd, self.size)
            except OSError as e:
                raise self._not_saved(e) from e
            self._partial = 0
            return
        self._partial = 0
        if status.st_size != self.size:
            self._changed = True
            raise self._foreign()

    def _has_name(self, status: os.stat_result) -> bool:
        """Whether the name still leads to the open file: it may have been renamed, too."""
        try:
            named = self._disk.stat(self._name)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as e:
            raise self._not_saved(e) from e
        mine = status.st_dev, status.st_ino
        if self._reader is not None:
            first = self._disk.fstat(self._reader)
            if (first.st_dev, first.st_ino) != mine:
                return False
        return (named.st_dev, named.st_ino) == mine

    def _cut_back(self, fd: int, size: int, excess: int) -> None:
        """Undo a failed write: the file ends at `size` again, or we remember that it does not."""
        self.size = size
        self.durable_size = min(self.durable_size, size)
        try:
            if self._disk.fstat(fd).st_size != size + excess:
                self._changed = True  # somebody else's bytes are among ours: cut nothing
                return
            if size == 0 and self._reader is None:
                # no empty file may stay: Pi would take it for its own and write over it
                self._disk.unlink(self._name)
                self._disk.close(fd)
                self._writer = None
                return
            if excess:
                self._disk.ftruncate(fd, size)
        except OSError:
            self._partial = excess

    def _ours_behind(self, fd: int, start: int, data: bytes) -> int:
        """How many bytes of `data` stand behind `start`; -1 where others stand there."""
        behind = self._disk.pread(fd, len(data) + 1, start)
        return len(behind) if data.startswith(behind) else -1

    def _sync_folder(self) -> None:
        try:
            self._disk.sync_folder(str(self.path.parent))
        except OSError as e:
            if e.errno not in _NO_FOLDER_SYNC:
                raise

    def _not_saved(self, error: OSError) -> SessionNotSavedError:
        reason = error.strerror or str(error)
        return SessionNotSavedError(f"{self.path} was not written: {reason}", path=self._name)

    def _foreign(self) -> SessionChangedError:
        return SessionChangedError(
            f"another program wrote to {self.path} or replaced it while it was open here; nothing"
            " more is written to it from here",
            path=self._name,
            hint="open the session again: everything in the file is kept",
        )


class _PartlyWrittenError(Exception):
    def __init__(self, cause: OSError, written: int) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.written = written


def make_durable_folder(disk: Disk, folder: Path) -> None:
    """The folder and what is missing above it, private, each name durable."""
    missing: list[Path] = []
    while not is_there(folder):
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        try:
            disk.mkdir(str(path))
        except FileExistsError:
            continue
        try:
            disk.sync_folder(str(path.parent))
        except OSError as e:
            if e.errno not in _NO_FOLDER_SYNC:
                raise


def _is_regular(status: os.stat_result) -> bool:
    return (status.st_mode & 0o170000) == 0o100000
