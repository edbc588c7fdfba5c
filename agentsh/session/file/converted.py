"""A file of an older version, read as version 3; written anew only when something is appended.

Until then the file stays as it is. With the first commit its bytes are copied to
`<name>.v1.bak` (private, never a `.jsonl`), and the converted file takes its name atomically: the
one rewrite that there is (R80, docs/adr/0001).
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from agentsh.errors import SessionChangedError, SessionNotSavedError
from agentsh.files import read_foreign
from agentsh.session.file.disk import CREATE, Disk
from agentsh.session.file.log import SessionLog
from agentsh.session.format.migrate import convert


class ConvertedLog:
    """log.py's face over the converted bytes, and over the converted file from the first commit."""

    def __init__(self, original: SessionLog, *, version: int, disk: Disk) -> None:
        self.path = original.path
        self._disk = disk
        self._version = version
        self._log = original
        self._original = original.read(0, original.size)
        self._data: bytes | None = convert(self._original)

    @property
    def size(self) -> int:
        return self._log.size if self._data is None else len(self._data)

    def read(self, start: int, end: int) -> bytes:
        return self._log.read(start, end) if self._data is None else self._data[start:end]

    def commit(self, data: bytes, *, durable: bool) -> int:
        if self._data is not None:
            self._rewrite(self._data)
        return self._log.commit(data, durable=durable)

    def close(self) -> None:
        self._log.close()

    def _rewrite(self, data: bytes) -> None:
        now = self._disk.stat(str(self.path))
        if now.st_size != len(self._original):
            raise SessionChangedError(
                f"another program wrote to {self.path} while it was open here", path=str(self.path)
            )
        fresh = self.path.with_name(f".{self.path.name}.{os.getpid()}.new")
        try:
            self._write_backup()
            self._write_file(fresh, data)
            self._disk.replace(str(fresh), str(self.path))
            self._disk.sync_folder(str(self.path.parent))
        except OSError as e:
            with suppress(OSError):
                self._disk.unlink(str(fresh))
            raise SessionNotSavedError(
                f"{self.path} was not converted: {e.strerror or e}", path=str(self.path)
            ) from e
        self._log.close()
        self._log = SessionLog.open(self.path, disk=self._disk)
        self._data = None
        self._original = b""

    def _write_backup(self) -> None:
        """Kept for good; other bytes under that name are somebody's, so the next name is taken."""
        for number in range(100):
            count = f"-{number}" if number else ""
            path = self.path.with_name(f"{self.path.name}.v{self._version}{count}.bak")
            try:
                if read_foreign(path, len(self._original), follow=False) == self._original:
                    return
            except OSError:  # another kind, larger, closed: whatever it is, it is somebody's
                if not os.path.lexists(path):
                    self._write_file(path, self._original)
                    return
        raise OSError(f"too many backups of {self.path}")

    def _write_file(self, path: Path, data: bytes) -> None:
        fd = self._disk.open(str(path), CREATE)
        try:
            view = memoryview(data)
            while view:
                view = view[self._disk.write(fd, view) :]
            self._disk.fsync(fd)
        except OSError:
            with suppress(OSError):
                self._disk.unlink(str(path))
            raise
        finally:
            self._disk.close(fd)
