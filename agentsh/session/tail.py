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

from agentsh.messages import AssistantMessage
from agentsh.session.codec import Unreadable, decode_line
from agentsh.session.decoding import collecting_paused
from agentsh.session.entries import (
    Compaction,
    Damaged,
    Entry,
    EntryId,
    Header,
    MessageBody,
    Notice,
)
from agentsh.session.lines import Line, Read, backward_lines, count_lines
from agentsh.session.scan import QUICK, torn_notice
from agentsh.session.typedcodec import decode_usual_line

# the beginning of a line as Pi and we write it; the fourth group is there where something is said
_LINE = re.compile(
    QUICK.pattern + rb'(?:[^"]*",("message":\{"role":"(?:user|assistant|toolResult)"))?', re.DOTALL
)
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
    notices: tuple[Notice, ...]
    lines: int | None
    """Of the whole file; None where the beginning was not read."""
    places: array[int]
    """Where each entry's line starts and ends, without its LF; two numbers for each."""

    @property
    def leaf(self) -> EntryId | None:
        return self.entries[-1].id if self.entries else None


def read_ending(read: Read, start: int, size: int) -> Ending:
    """`start` is where the entries begin, `size` where the file ends."""
    walk = _Walk(read)
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
        walk.places,
    )


def is_checkpoint(body: object) -> bool:
    """A compaction that says all that was in force before it, so that nothing older is needed."""
    return (
        isinstance(body, Compaction)
        and body.system is not None
        and isinstance(body.details, dict)
        and isinstance(body.details.get("ash"), dict)
    )


def cut_start(entries: Sequence[Entry]) -> int:
    """Where the live part of a whole path begins; 0 where nothing may be left out.

    Only the last compaction counts; its kept range begins at an ancestor, or is empty.
    """
    for at in range(len(entries) - 1, -1, -1):
        body = entries[at].body
        if not isinstance(body, Compaction):
            continue
        if not is_checkpoint(body):
            return 0
        kept = body.first_kept
        if kept is None or kept == entries[at].id:
            return at
        return next((i for i in range(at - 1, -1, -1) if entries[i].id == kept), at)
    return 0


class _Walk:
    def __init__(self, read: Read) -> None:
        self._read = read
        self.entries: list[Entry] = []
        self.places = array("q")
        """End and start of each, as it is met."""
        self.notices: list[Notice] = []
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
        self.is_thin = False
        """Something that was said before the kept range was passed."""

    def take(self, line: Line) -> bool:
        """True when no earlier line is needed."""
        if self.entries and (quick := _LINE.match(line.data)) is not None:
            if quick[2] != self._wanted:
                return False
            if self._is_before_kept:
                if self._passes(quick):
                    return self.wanted is None
            elif self._has_answer and self._takes(line):
                return self.wanted is None
        return bool(line.data.strip()) and self._read_line(line)

    def _takes(self, line: Line) -> bool:
        """Whether it only says something, as nearly every line of a path does; then it is taken."""
        entry = decode_usual_line(line.data)
        if entry is None or type(entry.body) is not MessageBody:
            return False
        if entry.id != self.wanted or entry.id == self._kept:
            return False
        self._keep(entry, line)
        self.wanted = entry.parent
        self._wanted = b"" if entry.parent is None else entry.parent.encode("utf-8", "replace")
        return True

    def _read_line(self, line: Line) -> bool:
        found = decode_line(line.data)
        match found:
            # first what nearly every line is
            case Entry(body=MessageBody()) if found.id == self.wanted:
                return self._follow(found, line)
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
                if self.entries and found.id != self.wanted:
                    return False
                return self._follow(found, line)

    def _passes(self, quick: re.Match[bytes]) -> bool:
        """Whether this entry of the path was only said, and is summed up since."""
        if not self._has_answer or quick[4] is None:
            return False
        self.is_thin = True
        self._wanted = quick[3] or b""
        self.wanted = EntryId(self._wanted.decode("utf-8", "replace")) if quick[3] else None
        return True

    def _keep(self, entry: Entry, line: Line) -> None:
        self.entries.append(entry)
        self.places.append(line.end)
        self.places.append(line.start)

    def _follow(self, entry: Entry, line: Line) -> bool:
        self._keep(entry, line)
        body = entry.body
        if isinstance(body, MessageBody):
            if not self._has_answer and isinstance(body.message, AssistantMessage):
                self._has_answer = True  # it says which model is in force
        elif isinstance(body, Compaction) and self.compaction is None:
            self.compaction = entry.id
            self._is_checkpoint = is_checkpoint(body)
            self._kept = body.first_kept or entry.id
        elif isinstance(body, Damaged):
            self._tell(line, f"{len(line.data)} bytes are {body.reason}")
        self.wanted = entry.parent
        self._wanted = b"" if entry.parent is None else entry.parent.encode("utf-8", "replace")
        if entry.id == self._kept and entry.parent is not None:
            self._is_before_kept = True
            self.is_cut = self._is_checkpoint
            return self.is_cut
        return entry.parent is None

    def _tear(self, line: Line) -> None:
        number = count_lines(self._read, line.start) + 1
        self.torn = Torn(number, len(line.data))
        self.notices.append(torn_notice(line, number))

    def _tell(self, line: Line, text: str) -> None:
        self.notices.append(Notice(text, count_lines(self._read, line.start) + 1))
