"""Session = log + tree: one stored conversation, read from its end, appended to entry by entry.

One sees the file plus what this process has queued. `append` moves the leaf at once; the disk has
it after `flush` (written) or `barrier` (durable). Opening writes nothing: with the first append
come the fact that it was opened, what closes an interrupted turn, and the entry, in this order;
until then the same repair is shown (repair.py plans it). A failed barrier leaves the queue as it
is: unsaved, not lost, and not overtaken; to have it undone call `withdraw` (ADR 0006).
It knows no provider, tool or terminal. Read next: reading.py, writing.py.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Self

from agentsh import __version__
from agentsh.errors import EntryNotFoundError, RefusedError
from agentsh.files import real
from agentsh.session.file.environment import HERE, Surroundings
from agentsh.session.file.forms import CURRENT_LEAF, Here, check_understood, closed, stored_body
from agentsh.session.file.lock import Lock, acquire, acquire_new, live_holder
from agentsh.session.file.log import SessionLog
from agentsh.session.file.memory_log import MemoryLog
from agentsh.session.file.reading import Log, Reading
from agentsh.session.file.resolve import find_entry
from agentsh.session.file.scan import Opening, read_opening
from agentsh.session.file.tree import Tree
from agentsh.session.file.writing import EndSearch, Position, Writing
from agentsh.session.format.entries import (
    VERSION,
    Body,
    Branch,
    Entry,
    EntryId,
    Header,
    Label,
    ReadNotice,
    SessionInfo,
    Stamp,
)
from agentsh.session.format.facts import Fact, MoveReason, Navigated, Opened, Origin
from agentsh.session.format.ids import drawn_names, first_names, short_id
from agentsh.session.format.seal import SealChain
from agentsh.session.format.times import iso_time
from agentsh.session.health.repair import Closing, plan
from agentsh.session.health.unfinished import Whose


class Session:
    """Made by `open_session` and `new_session`. Methods may be called from several threads."""

    def __init__(
        self,
        log: Log,
        opening: Opening,
        *,
        path: Path | None,
        writable: bool,
        around: Surroundings,
        lock: Lock | None = None,
        origin: Origin | None = None,
        search: EndSearch | None = None,
    ) -> None:
        self.path = path
        self.writable = writable
        self._log = log
        self._opening = opening
        self._lock = lock
        self._origin = origin
        self._around = around
        self._size = log.size
        self.guard = threading.RLock()  # who holds it sees and appends alone
        self._reading = Reading(log.read, opening, self._size)
        self._search = search
        self._writing: Writing | None = None
        self._closings: tuple[Closing, ...] | None = None
        self._preface: set[EntryId] = set()
        """What was queued before the first append of this process, for its sake."""
        self._names = first_names(opening.header.id)

    # ---- looking -------------------------------------------------------------------------------

    @property
    def header(self) -> Header:
        return self._opening.header

    @property
    def leaf(self) -> EntryId | None:
        with self.guard:
            return self._reading.leaf

    @property
    def saved(self) -> bool:
        """True if all that was appended is durable."""
        return self._writing is None or self._writing.is_saved

    @property
    def notices(self) -> tuple[ReadNotice, ...]:
        """What was found and read around so far; the whole file's once `tree` was asked for."""
        lock = (self._lock.notice,) if self._lock is not None and self._lock.notice else ()
        return (*self._reading.notices, *lock)

    @property
    def tree(self) -> Tree:
        """Reads the whole file once."""
        with self.guard:
            return self._reading.tree

    def entry(self, entry: EntryId) -> Entry:
        """Raises EntryNotFoundError."""
        with self.guard:
            return self._reading.entry(entry)

    def entries(self) -> Iterator[Entry]:
        """All of the file, in its order."""
        yield from map(self.entry, tuple(self.tree))

    def raw(self, entry: EntryId) -> bytes:
        """The entry's line, without its LF."""
        with self.guard:
            queued = self._writing.queued(entry) if self._writing is not None else None
            return self._reading.raw(entry) if queued is None else queued

    def lines(self, entries: Sequence[EntryId]) -> Iterator[bytes]:
        """What the file has for them, each line with one LF, in pieces of any size."""
        with self.guard:
            yield from self._reading.lines_of(entries, self.raw)

    def words(self, pattern: re.Pattern[bytes]) -> set[bytes]:
        """All that a short pattern (up to 64 bytes) finds in the file's bytes."""
        with self.guard:
            return self._reading.words(pattern, self._log.size)

    def with_words(self, *words: bytes) -> Iterator[Entry]:
        """The entries whose lines hold one of these, and all that is only queued; no index."""
        with self.guard:
            yield from self._reading.with_words(words, self._log.size)

    def branch(self, end: EntryId | Here | None = CURRENT_LEAF, *, repaired: bool = True) -> Branch:
        """Root → `end`, complete; at the leaf with what closes an interrupted turn."""
        with self.guard:
            if not isinstance(end, Here):
                return self._reading.whole(end)
            whole = self._reading.whole(self.leaf)
            return self._with_repair(whole) if repaired else whole

    def live(self, end: EntryId | Here | None = CURRENT_LEAF, *, repaired: bool = True) -> Branch:
        """Root → `end`, or as much of its end as a projection needs; repaired as in `branch`."""
        with self.guard:
            if not isinstance(end, Here):
                return self._reading.live(end)
            live = self._reading.live(self.leaf)
            return self._with_repair(live) if repaired else live

    def whose(self, entries: Sequence[Entry]) -> Whose:
        """What must be known of the file to tell what a path of it left open (unfinished.py)."""
        with self.guard:
            return self._reading.whose(entries)

    def resolve(self, word: str) -> EntryId | None:
        """The entry that a word names; None before the first one. Raises EntryNotFoundError."""
        if word == "leaf":
            return self.leaf
        return find_entry(self.tree, self.leaf, word)

    # ---- appending -----------------------------------------------------------------------------

    def append(
        self,
        body: Body | Fact,
        *,
        sources: tuple[EntryId, ...] = (),
        request: EntryId | None = None,
        code: str | None = None,
        parent: EntryId | Here | None = CURRENT_LEAF,
    ) -> Entry:
        """Queue one entry; it is the leaf now. Raises SessionError where writing is refused."""
        with self.guard:
            if not isinstance(parent, Here):
                self._must_know(parent)
            self._begin()
            return self._push(Closing(body, self._now(), sources, request, code), parent)

    def check_writable(self) -> None:
        """Raises RefusedError or UnsupportedVersionError where an append would."""
        where = None if self.path is None else str(self.path)
        if not self.writable:
            raise RefusedError("this session was opened for reading only", path=where)
        check_understood(self.header, self._reading.entries, where)

    def begin(self) -> None:
        """Close an interrupted turn now (queued), so that what follows can name real entries."""
        with self.guard:
            if self._writing is None and self._plan_repair():
                self._begin()

    def flush(self) -> None:
        """Write what is queued, durable or not. Raises as `barrier` does."""
        self._commit(durable=False, seal=False)

    def barrier(self, seal: bool = True) -> None:
        """Make everything durable.

        Raises SessionNotSavedError: the file is as it was and the entries wait for the next
        barrier. Raises SessionChangedError: somebody else wrote; nothing more is written here.
        """
        self._commit(durable=True, seal=seal)

    def withdraw(self, since: EntryId | None = None) -> tuple[Entry, ...]:
        """Undo the appends that are in no file (after a barrier failed); the leaf moves back.

        With `since` only that one and all after it, and nothing if it has come into the file.
        """
        with self.guard:
            if self._writing is None:
                return ()
            taken = self._writing.withdraw(since)
            if taken and self._writing.waiting <= self._preface:
                # an opening that opened nothing: the next append begins anew
                taken = (*self._writing.withdraw(), *taken)
            self._reading = self._reading.without({entry.id for entry in taken})
            if not self._reading.own():
                self._writing = None  # the next append begins anew
            return taken

    def move(self, target: EntryId | None, reason: MoveReason, *, durably: bool = True) -> Entry:
        """Make `target` (None: before the first entry) the place that the next append follows.
        Not `durably`: with the next barrier, for what is to be done there and may be refused."""
        with self.guard:
            self._must_know(target)
            self._begin()
            entry = self._push(Closing(Navigated(self.leaf, reason), self._now()), target)
            if durably:
                self.barrier()
            return entry

    def label(self, target: EntryId, name: str | None) -> Entry:
        with self.guard:
            self._must_know(target)
            entry = self.append(Label(target, name or None))
            self.barrier()
            return entry

    def rename(self, name: str) -> Entry:
        with self.guard:
            entry = self.append(SessionInfo(name))
            self.barrier()
            return entry

    def close(self) -> None:
        """Save what waits and let go of the file and the lock, even if saving fails."""
        with self.guard:
            try:
                if not self.saved:
                    self.barrier()
            finally:
                self.writable = False
                self._log.close()
                if self._lock is not None:
                    self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    # ---- inside --------------------------------------------------------------------------------

    def _now(self) -> str:
        return iso_time(self._around.clock())

    def _must_know(self, entry: EntryId | None) -> None:
        if entry is not None and entry not in self._reading:
            raise EntryNotFoundError(f"no entry {entry}")

    def _begin(self) -> None:
        """Begin to append: check that we may, find the end, plan what is to be closed."""
        if self._writing is not None:
            return
        self.check_writable()
        if (size := self._log.size) == 0:
            self._writing = Writing(self._log, self.header, Position(1, SealChain(), True))
            if self._origin is not None:
                self._push(Closing(self._origin, self._now()), None)
            self._preface = self._writing.waiting
            return
        closings = self._plan_repair()
        knows_all = self._reading.learn_ids()
        self._names = drawn_names(self._around.chance(8), are_wide=not knows_all)
        search = self._search or EndSearch(self._log.read, size, self.header.id)
        position = search.position(self._reading.lines)
        self._writing = Writing(self._log, None, position)
        opened = Opened("resume", os.getpid(), os.uname().nodename, __version__, position.line)
        for each in (Closing(opened, self._now()), *closings):
            self._push(each, self.leaf)
        self._preface = self._writing.waiting

    def _push(self, what: Closing, parent: EntryId | Here | None) -> Entry:
        assert self._writing is not None
        line = self._writing.next_line
        name = self._names.at(line, self._reading.known)
        entry = Entry(
            id=name,
            parent=self.leaf if isinstance(parent, Here) else parent,
            time=what.time,
            body=stored_body(what.body, name),
            stamp=Stamp(
                short_id(self.header.id), line, None, what.sources, what.request, what.code
            ),
        )
        self._writing.queue(entry)
        self._reading.extend(entry)
        return entry

    def _commit(self, *, durable: bool, seal: bool) -> None:
        with self.guard:
            if self._writing is None:
                return
            if self._lock is None and self.path is not None:
                self._lock = acquire_new(self.path, disk=self._around.disk, now=self._now())
            for placed in self._writing.commit(durable=durable, seal=seal):
                self._reading.put(*placed)

    def _with_repair(self, branch: Branch) -> Branch:
        """The branch as the next append would make it, with nothing written."""
        if self._writing is not None or (closings := self._plan_repair()) == ():
            return branch
        return closed(branch, closings, self.header)

    def _plan_repair(self) -> tuple[Closing, ...]:
        """What closes the turn that the file ends in; nothing while another process runs it."""
        if self._closings is None:
            self._closings = ()
            torn = self._reading.torn
            running = (
                not self.writable and self.path is not None and live_holder(str(real(self.path)))
            )
            if self._size and not running:
                live = self._reading.live(self.leaf)
                line, size = (torn.line, torn.bytes) if torn else (None, None)
                seen = self._around.gather(live, self.path, torn_line=line, torn_bytes=size)
                self._closings = plan(live, seen, whose=self._reading.whose(live.entries))
        return self._closings


def open_session(path: Path, *, write: bool, around: Surroundings = HERE) -> Session:
    """A session that is in a file. Writes nothing, whatever `write` says.

    Raises SessionNotFoundError (no such file, no session) and, for writing, SessionLockedError.
    """
    file = real(path)  # by whatever name a file is opened, it has one lock
    log = SessionLog.open(file, disk=around.disk)
    lock: Lock | None = None
    try:
        if write:
            lock = acquire(str(file), disk=around.disk, now=iso_time(around.clock()))
            # what was written between our look and the lock is part of what we read
            log.close()
            log = SessionLog.open(file, disk=around.disk)
        opening = read_opening(log.read, log.size, str(path))
        search: EndSearch | None = None
        used: Log = log
        if opening.header.version < VERSION:
            from agentsh.session.file.converted import ConvertedLog

            used = ConvertedLog(log, version=opening.header.version, disk=around.disk)
            opening = read_opening(used.read, used.size, str(path))
        elif write:
            search = EndSearch(log.twin().read, log.size, opening.header.id)
            search.begin()
        return Session(
            used, opening, path=path, writable=write, around=around, lock=lock, search=search
        )
    except BaseException:
        log.close()
        if lock is not None:
            lock.release()
        raise


def new_session(
    path: Path | None,
    header: Header,
    *,
    root: Callable[[Origin], Origin] = lambda origin: origin,
    around: Surroundings = HERE,
) -> Session:
    """A session that begins. Nothing is on the disk before its first flush or barrier.

    `path` None keeps it in memory for good. Its first entry: a person's, as `root` changes it.
    """
    log: Log = MemoryLog() if path is None else SessionLog.create(path, disk=around.disk)
    opening = Opening(header, 0, 0, ())
    first = root(Origin(header.id, f"agentsh {__version__}", "user"))
    return Session(log, opening, path=path, writable=True, around=around, origin=first)
