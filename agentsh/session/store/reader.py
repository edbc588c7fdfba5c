"""A session file as bytes in version 3, to be looked through: for search, index and costs.

A file of an older version is given as it would be converted; nothing is written. Whoever opens
another kind of file hands in an Opener of his own (packed.py). Read next: search.py, converted.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from agentsh.session.file.converted import ConvertedLog
from agentsh.session.file.disk import Disk
from agentsh.session.file.log import SessionLog
from agentsh.session.file.scan import Opening, read_opening
from agentsh.session.format.entries import VERSION
from agentsh.session.format.lines import LineSpan, Read, forward_lines

_FIRST_READ = 1 << 14
_HEADER_READ = 1 << 12


class SessionReader(Struct, frozen=True):
    """An open file. `is_converted`: its offsets are not those of the file on the disk."""

    read: Read
    size: int
    opening: Opening
    is_converted: bool

    def lines(self, start: int = 0) -> Iterator[LineSpan]:
        """The lines behind the header, from an offset on."""
        return forward_lines(self.read, max(start, self.opening.end), self.size)

    def line(self, start: int) -> bytes:
        """The line that begins there, without its LF."""
        length = _FIRST_READ
        while True:
            data = self.read(start, min(start + length, self.size))
            end = data.find(b"\n")
            if end >= 0:
                return data[:end]
            if start + length >= self.size:
                return data
            length *= 8


Opener: TypeAlias = Callable[[Path], AbstractContextManager[SessionReader]]
"""Raises SessionError and OSError."""


@contextmanager
def open_reader(path: Path) -> Iterator[SessionReader]:
    """Raises SessionNotFoundError where there is no session."""
    disk = Disk()
    log = SessionLog.open(path, disk=disk)
    try:
        # a header is short: no need for a whole block of what comes after it
        opening = read_opening(
            lambda start, end: log.read(start, min(end, start + _HEADER_READ)), log.size, str(path)
        )
        if opening.header.version >= VERSION:
            yield SessionReader(log.read, log.size, opening, is_converted=False)
            return
        converted = ConvertedLog(log, version=opening.header.version, disk=disk)
        opening = read_opening(converted.read, converted.size, str(path))
        yield SessionReader(converted.read, converted.size, opening, is_converted=True)
    finally:
        log.close()
