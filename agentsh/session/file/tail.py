"""From the end of a file to the path of its leaf, reading backwards and decoding that path only.

Parents stand before their children, so one pass towards the beginning meets the whole path. It ends
early at the first kept entry of the last compaction, if that carries what was in force before
(entries.Branch); the rest of the file is then never read (R72). Pi's own compactions do not: before
the range that they kept, the settings on the path are still read, but what was said is passed.
Lines off the path are passed by their pattern, not parsed. A parent that is not found backwards (it
stands later, or nowhere) is left to the whole index. Read next: reading.py.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence

from msgspec import Struct

from agentsh.messages import AssistantMessage, own_details
from agentsh.session.file.scan import junk_notice, torn_notice
from agentsh.session.format.codec import Unreadable, decode_line
from agentsh.session.format.decoding import collecting_paused
from agentsh.session.format.entries import (
    ASIDE,
    Branch,
    Compaction,
    Damaged,
    Entry,
    EntryId,
    Header,
    MessageBody,
    ReadNotice,
    last_place,
)
from agentsh.session.format.fastpath import decode_usual_line
from agentsh.session.format.junk import has_junk
from agentsh.session.format.linehead import match_head
from agentsh.session.format.lines import LineSpan, Read, backward_lines, count_lines

_SAID = frozenset({b"user", b"assistant", b"toolResult"})
_BEGINNING = 1 << 16
"""Who has read backwards to within this of the beginning may as well count the rest."""


class Torn(Struct, frozen=True):
    """A last line without its end: number from 1, length."""

    line: int
    bytes: int


class Ending(Struct, frozen=True):
    """What the end of a file says."""

    entries: tuple[Entry, ...]
    """The path of the leaf, or its part from the last compaction's kept range on; oldest first."""
    complete: bool
    cut_by: EntryId | None
    """The compaction that lets entries be missing before what it kept."""
    lost: EntryId | None
    """A parent that was not found backwards."""
    torn: Torn | None
    notices: tuple[ReadNotice, ...]
    lines: int | None
    """Of the whole file; None where the beginning was not read."""
    is_twin: bool
    """The path came to an id that another line passed on the way has, too."""
    places: array[int]
    """Where each entry's line starts and ends, without its LF; two numbers for each."""

    @property
    def leaf(self) -> EntryId | None:
        return self.entries[-1].id if self.entries else None


def read_ending(read: Read, start: int, size: int, session: str = "") -> Ending:
    """`start` is where the entries begin, `size` where the file ends. `session`: its short id.

    A side question of this session, or its answer, is no leaf: the file ended before it was left.
    """
    walk = _Walk(read, session)
    passed, first = 0, size
    with collecting_paused():
        for line in backward_lines(read, size, start):
            passed += 1
            first = line.start
            if walk.take(line):
                break
    walk.entries.reverse()
    walk.places.reverse()
    lost = walk.wanted if walk.wanted is not None and not walk.is_cut else None
    return Ending(
        tuple(walk.entries),
        not walk.is_cut and not walk.is_thin,
        walk.compaction if walk.is_cut or walk.is_thin else None,
        lost,
        walk.torn,
        tuple(reversed(walk.notices)),
        passed + count_lines(read, first) if passed and first <= _BEGINNING else None,
        walk.is_twin,
        walk.places,
    )


def is_checkpoint(body: object) -> bool:
    """A compaction that holds the whole state in force: nothing older is needed."""
    return (
        isinstance(body, Compaction)
        and body.system is not None
        and own_details(body.details) is not None
    )


def kept_by(compaction: Entry) -> EntryId:
    """The first entry that it kept; itself where it kept none."""
    body = compaction.body
    return (isinstance(body, Compaction) and body.first_kept) or compaction.id


def lacks_facts(live: Branch) -> bool:
    """Whether facts may stand before the part of the path that was read. Pure.

    What was read stops at a compaction that carries what was in force before. At another's, such as
    Pi's, all of the path is read but what was said.
    """
    if live.complete:
        return False
    bodies = (entry.body for entry in reversed(live.entries))
    return is_checkpoint(next((body for body in bodies if isinstance(body, Compaction)), None))


def names_model(entry: Entry) -> bool:
    """An answer that names its model; that model is then in force."""
    body = entry.body
    if not isinstance(body, MessageBody) or not isinstance(body.message, AssistantMessage):
        return False
    return bool(body.message.provider and body.message.model)


def cut_start(entries: Sequence[Entry]) -> int:
    """Where the live part of a whole path begins; 0 where nothing may be left out.

    Only the last compaction counts; its kept range begins at an ancestor, or is empty.
    """
    index = last_place(entries, Compaction)
    if index is None or not is_checkpoint(entries[index].body):
        return 0
    first_kept = kept_by(entries[index])
    if first_kept == entries[index].id:
        return index
    return next((i for i in range(index - 1, -1, -1) if entries[i].id == first_kept), index)


class _Walk:
    def __init__(self, read: Read, session: str) -> None:
        self._read = read
        self._session = session
        self.entries: list[Entry] = []
        self.places = array("q")
        """End and start of each, as it is met."""
        self.notices: list[ReadNotice] = []
        self.torn: Torn | None = None
        self.is_cut = False
        self.wanted: EntryId | None = None
        self._wanted: bytes = b""
        self._kept: EntryId | None = None
        """The first kept entry of the last compaction, once that was met."""
        self.compaction: EntryId | None = None
        self._is_checkpoint = False
        self._is_before_kept = False
        self._has_answer = False
        self._met: set[bytes] = set()
        """Ids of all lines on the way: a second one on the path is told apart by the index."""
        self.is_twin = False
        self.is_thin = False
        """Something that was said before the kept range was passed."""

    def take(self, line: LineSpan) -> bool:
        """True when no earlier line is needed."""
        if self.entries and (quick := match_head(line.data)) is not None:
            name: bytes = quick["id"]
            if name != self._wanted:
                self._met.add(name)
                return False
            if self._meets_again(name):
                return True
            if self._is_before_kept:
                if self._passes(quick):
                    return self.wanted is None
            elif self._has_answer and self._takes(line, name):
                return self.wanted is None
        if not line.data.strip() or (not self.entries and self._is_aside(line)):
            return False
        return self._read_line(line)

    def _meets_again(self, name: bytes) -> bool:
        """Whether a line that the path wants has the id of one that was passed or taken before."""
        self.is_twin = name in self._met
        return self.is_twin

    def _takes(self, line: LineSpan, name: bytes) -> bool:
        """Whether it only says something, as nearly every line of a path does; then it is taken."""
        entry = decode_usual_line(line.data)
        if entry is None or type(entry.body) is not MessageBody:
            return False
        if entry.id != self.wanted or entry.id == self._kept:
            return False
        self._keep(entry, line, name)
        self._want(entry.parent)
        return True

    def _want(self, parent: EntryId | None) -> None:
        self.wanted = parent
        self._wanted = b"" if parent is None else _bytes(parent)

    def _read_line(self, line: LineSpan) -> bool:
        decoded = decode_line(line.data)
        if self.entries and isinstance(decoded, Entry):
            name = _bytes(decoded.id)
            if decoded.id == self.wanted and self._meets_again(name):
                return True
            self._met.add(name)
        match decoded:
            # first what nearly every line is
            case Entry(body=MessageBody()) if decoded.id == self.wanted:
                return self._follow(decoded, line)
            case Header():
                return False
            case Unreadable() | Entry(body=Damaged()) if not line.is_ended:
                self._tear(line)
                return False
            case Unreadable(reason):
                self._tell(line, f"skipped {len(line.data)} bytes that are {reason}")
                return False
            case Entry(body=Damaged(reason)) if not self.entries:
                # never a leaf: Pi would not find it as the parent of what comes next
                self._tell(line, f"{len(line.data)} bytes are {reason}")
                return False
            case Entry():
                if self.entries and decoded.id != self.wanted:
                    return False
                return self._follow(decoded, line)

    def _is_aside(self, line: LineSpan) -> bool:
        entry = decode_line(line.data)
        stamp = entry.stamp if isinstance(entry, Entry) else None
        return stamp is not None and stamp.code == ASIDE and stamp.session == self._session

    def _passes(self, quick: re.Match[bytes]) -> bool:
        """Whether this entry of the path was only said, and is summed up since."""
        if not self._has_answer or quick["role"] not in _SAID:
            return False
        self.is_thin = True
        self._met.add(quick["id"])
        self._wanted = quick["parent"] or b""
        self.wanted = EntryId(self._wanted.decode()) if quick["parent"] else None
        return True

    def _keep(self, entry: Entry, line: LineSpan, name: bytes) -> None:
        self.entries.append(entry)
        self._met.add(name)
        self.places.append(line.end)
        self.places.append(line.start)

    def _follow(self, entry: Entry, line: LineSpan) -> bool:
        self._keep(entry, line, _bytes(entry.id))
        if not isinstance(entry.body, Damaged) and has_junk(line.data):
            self.notices.append(junk_notice(line, count_lines(self._read, line.start) + 1))
        body = entry.body
        if isinstance(body, MessageBody):
            self._has_answer = self._has_answer or names_model(entry)
        elif isinstance(body, Compaction) and self.compaction is None:
            self.compaction = entry.id
            self._is_checkpoint = is_checkpoint(body)
            self._kept = body.first_kept or entry.id
        elif isinstance(body, Damaged):
            self._tell(line, f"{len(line.data)} bytes are {body.reason}")
        self._want(entry.parent)
        if entry.id == self._kept and entry.parent is not None:
            self._is_before_kept = True
            self.is_cut = self._is_checkpoint
            return self.is_cut
        return entry.parent is None

    def _tear(self, line: LineSpan) -> None:
        number = count_lines(self._read, line.start) + 1
        self.torn = Torn(number, len(line.data))
        self.notices.append(torn_notice(line, number))

    def _tell(self, line: LineSpan, text: str) -> None:
        self.notices.append(ReadNotice(text, count_lines(self._read, line.start) + 1))


def _bytes(entry: EntryId) -> bytes:
    """An id as lines have it."""
    return entry.encode("utf-8", "replace")
