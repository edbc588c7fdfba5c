"""The write side of a session: the queue of what is not durable yet, line numbers and seals.

Entries are encoded when they are appended and written when somebody asks: `commit` writes all that
wait as one batch, with a seal in the last line where it becomes durable. What fails stays queued in
order, with the file cut back to where it was, and goes out first with the next commit (ADR 0006).
Read next: session.py, which decides what is appended.
"""

from __future__ import annotations

import threading
from contextlib import suppress

from msgspec import Struct

from agentsh.errors import SessionNotSavedError
from agentsh.session.file.reading import Log
from agentsh.session.format.codec import encode_entry, encode_header
from agentsh.session.format.entries import Entry, EntryId, Header
from agentsh.session.format.ids import short_id
from agentsh.session.format.linehead import LineStamp, read_line_stamp
from agentsh.session.format.lines import Read, backward_lines, count_lines
from agentsh.session.format.seal import SealChain

_BLOCK = 1 << 18
"""Small enough to be hashed and searched while it is still near the processor."""
_BLOCK_BESIDE = 1 << 22
"""Large: between two blocks a thread waits for the interpreter, up to 5 ms each time."""
_NEAR = 1 << 14
"""A writer of ours leaves its marks at the end; without one here, there is likely none."""


class _Queued(Struct):
    entry: Entry
    line: bytes
    start: int | None = None
    """Where it lies in the file, written but not yet durable."""


class Position(Struct, frozen=True):
    """Where a writer goes on: the next line's number and the chain of seals up to the end."""

    line: int
    chain: SealChain
    is_ended: bool
    """False: the last line lacks its LF."""


class _Foreign(Struct, frozen=True):
    """The end of a file that we never wrote to: all of it is hashed."""

    chain: SealChain
    is_ended: bool


class EndSearch:
    """Finds where a writer goes on: from the end back to the last own seal, no further.

    A file that has none is hashed whole, which takes a third as long as it is to read it. `begin`
    does that in a thread while the path is decoded: the system's read and the hash leave the
    interpreter free. `read` is then used by that thread.
    """

    def __init__(self, read: Read, size: int, session: str) -> None:
        self._read = read
        self._size = size
        self._session = short_id(session)
        self._thread: threading.Thread | None = None
        self._found: _Foreign | OSError | None = None

    def begin(self) -> None:
        """Look beside whatever else is done; of a small file nothing is gained by that."""
        if self._size >= _BLOCK_BESIDE and not self._has_mark_near():
            thread = threading.Thread(target=self._look, name="end of file", daemon=True)
            with suppress(RuntimeError):  # no more threads here: `position` looks by itself
                thread.start()
                self._thread = thread

    def position(self, lines: int | None = None) -> Position:
        """`lines`: how many lines the file has, where that is known. Raises OSError as reading."""
        foreign = self._foreign()
        if foreign is None:
            return self._behind_mark()
        if lines is None:
            lines = count_lines(self._read, self._size) + (not foreign.is_ended)
        return Position(lines, foreign.chain, foreign.is_ended)

    def _foreign(self) -> _Foreign | None:
        """None where there is a mark of ours."""
        if self._thread is None:
            return None if self._has_mark_near() else self._hashed(_BLOCK)
        self._thread.join()
        if isinstance(self._found, OSError):
            raise self._found
        return self._found

    @property
    def _mark(self) -> bytes:
        return b'"ash":{"s":"' + self._session.encode("utf-8", "replace") + b'"'

    def _has_mark_near(self) -> bool:
        return self._mark in self._read(max(0, self._size - _NEAR), self._size)

    def _look(self) -> None:
        try:
            self._found = self._hashed(_BLOCK_BESIDE)
        except OSError as e:
            self._found = e

    def _hashed(self, block: int) -> _Foreign | None:
        """One pass over all; None as soon as there is a mark."""
        mark, size = self._mark, self._size
        chain, overlap, data = SealChain(), b"", b""
        for offset in range(0, size, block):
            data = self._read(offset, min(offset + block, size))
            # from the right it is found missing in half the time
            if data.rfind(mark) >= 0 or mark in overlap + data[: len(mark)]:
                return None
            chain.feed(data)
            overlap = data[-len(mark) :]
        return _Foreign(chain, data.endswith(b"\n") or not size)

    def _behind_mark(self) -> Position:
        read, size = self._read, self._size
        number: int | None = None
        is_ended = True
        for behind, line in enumerate(backward_lines(read, size)):
            if line.end == size:
                is_ended = line.is_ended
            mark = read_line_stamp(line.data)
            if mark is not None and mark.session == self._session:
                if number is None:
                    number = mark.line + behind + 1
                if mark.seal is not None:
                    return Position(number, _chain(read, size, line.start, mark), is_ended)
        if number is None:
            number = count_lines(read, size) + (not is_ended)
        return Position(number, _chain(read, size, 0, None), is_ended)


def _chain(read: Read, size: int, start: int, mark: LineStamp | None) -> SealChain:
    chain = SealChain("" if mark is None or mark.seal is None else mark.seal)
    offset = start + (0 if mark is None else mark.seal_end)
    while offset < size:
        data = read(offset, min(offset + _BLOCK, size))
        if not data:
            break
        chain.feed(data)
        offset += len(data)
    return chain


class Writing:
    """Numbers, encodes, queues and commits the entries of one writer."""

    def __init__(self, log: Log, header: Header | None, position: Position) -> None:
        self._log = log
        self._queue: list[_Queued] = []
        self._header = header
        """To be written before everything else; None for a file that has one."""
        self._must_end_line = not position.is_ended
        self._chain = position.chain
        """At the end of what is written."""
        self._durable = (position.chain.copy(), header, self._must_end_line)
        self._is_synced = True
        self.next_line = position.line

    @property
    def is_saved(self) -> bool:
        return not self._queue and self._is_synced

    def queue(self, entry: Entry) -> None:
        """Raises JsonError if the entry cannot be stored; nothing is queued then."""
        self._queue.append(_Queued(entry, encode_entry(entry)))
        self.next_line += 1

    def queued(self, entry: EntryId) -> bytes | None:
        """The line (without LF) of an entry that is not durable yet."""
        queued = next((item for item in self._queue if item.entry.id == entry), None)
        return None if queued is None else queued.line[:-1]

    def withdraw(self, since: EntryId | None = None) -> tuple[Entry, ...]:
        """Take back what is queued and in no file, all or from that entry on; the rest stays."""
        first = 0
        if since is not None:
            positions = (i for i, item in enumerate(self._queue) if item.entry.id == since)
            first = next(positions, len(self._queue))
            if first < len(self._queue) and self._queue[first].start is not None:
                return ()  # it is in the file: what follows it has a cause there
        taken = [item for item in self._queue[first:] if item.start is None]
        remaining = len(self._queue) - len(taken)
        self._queue = self._queue[:remaining]
        self.next_line -= len(taken)
        return tuple(item.entry for item in taken)

    @property
    def waiting(self) -> set[EntryId]:
        """What is in no file."""
        return {item.entry.id for item in self._queue if item.start is None}

    def commit(self, *, durable: bool, seal: bool) -> list[tuple[EntryId, int, int]]:
        """Write what waits; where each entry came to lie. Raises what the log raises."""
        waiting = [item for item in self._queue if item.start is None]
        if not waiting and (self._is_synced or not durable):
            return []
        chain = self._chain.copy()
        lead = b"\n" if self._must_end_line else b""
        if self._header is not None:
            lead = encode_header(self._header)
        chain.feed(lead)
        lines = [item.line for item in waiting]
        for line in lines[:-1]:
            chain.feed(line)
        if lines and seal:
            lines[-1] = chain.seal_line(lines[-1])
        elif lines:
            chain.feed(lines[-1])
        try:
            start = self._log.commit(lead + b"".join(lines) if lines else b"", durable=durable)
        except SessionNotSavedError:
            self._fall_back()
            raise
        if not waiting:
            lead = b""
        else:
            self._chain, self._header, self._must_end_line = chain, None, False
        self._is_synced = durable
        return self._settle(waiting, lines, start + len(lead), durable)

    def _settle(
        self, waiting: list[_Queued], lines: list[bytes], offset: int, durable: bool
    ) -> list[tuple[EntryId, int, int]]:
        placed: list[tuple[EntryId, int, int]] = []
        for item, line in zip(waiting, lines, strict=True):
            item.start = offset
            placed.append((item.entry.id, offset, offset + len(line) - 1))
            offset += len(line)
        if durable:
            self._queue = []
            self._durable = (self._chain.copy(), self._header, self._must_end_line)
        return placed

    def _fall_back(self) -> None:
        """The log was cut back: what lies behind its end is waiting again."""
        size = self._log.size
        lost = [item for item in self._queue if item.start is not None and item.start >= size]
        for item in lost:
            item.start = None
        if lost:
            chain, self._header, self._must_end_line = self._durable
            self._chain = chain.copy()
            self._is_synced = True
