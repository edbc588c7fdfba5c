"""A whole file → its index: where each entry lies and whose child it is, mostly without parsing.

Lines in Pi's and our order are told by how they begin (linehead.py); others (Pi's `custom` lines
have their id last) are parsed. A line that begins well is taken for an entry even if
it is broken further on: reading it then yields Damaged, and its children stay reachable. Labels and
the name are file-wide, so their lines are decoded here. Read next: tail.py for the quicker way.
"""

from __future__ import annotations

import hashlib
import re
from array import array

from msgspec import Struct, field

from agentsh.errors import SessionNotFoundError
from agentsh.session.file.tree import Tree
from agentsh.session.format.codec import Unreadable, decode_line
from agentsh.session.format.decoding import collecting_paused
from agentsh.session.format.entries import (
    Damaged,
    Entry,
    EntryId,
    Header,
    Label,
    ReadNotice,
    SessionInfo,
)
from agentsh.session.format.junk import has_junk, record_in
from agentsh.session.format.linehead import match_whole_line
from agentsh.session.format.lines import LineSpan, Read, forward_lines

BOM = b"\xef\xbb\xbf"
_BLOCK = 1 << 20
# kinds whose body the index needs
_TOLD = frozenset(kind.type.encode() for kind in (Label, SessionInfo))
_JUNK_BEFORE_HEADER = 1 << 20


class Opening(Struct, frozen=True):
    """The beginning of a file: the header and where the entries start."""

    header: Header
    end: int
    """Offset behind the header's line."""
    lines: int
    """Lines up to there."""
    notices: tuple[ReadNotice, ...]


class FileIndex(Struct):
    """Every entry of a file. The n-th of `tree` lies at `starts[n]`…`ends[n]`, line `lines[n]`."""

    tree: Tree = field(default_factory=Tree)
    starts: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))
    lines: array[int] = field(default_factory=lambda: array("q"))
    notices: list[ReadNotice] = field(default_factory=list)

    def place(self, entry: EntryId) -> tuple[int, int]:
        number = self.tree.number(entry)
        return self.starts[number], self.ends[number]


def read_opening(read: Read, size: int, path: str) -> Opening:
    """Find the header. Raises SessionNotFoundError where the file is no session."""
    notices: list[ReadNotice] = []
    for number, line in enumerate(forward_lines(read, 0, size), start=1):
        data = line.data
        if number == 1 and data.startswith(BOM):
            notices.append(ReadNotice("the file begins with a byte order mark", 1, "bom"))
            data = data[len(BOM) :]
        if not data.strip():
            continue
        header = decode_line(data)
        match header:
            case Header():
                return Opening(header, line.end + line.is_ended, number, tuple(notices))
            case Unreadable() | Entry(body=Damaged()) if line.end < _JUNK_BEFORE_HEADER:
                notices.append(_skipped("not JSON", number, len(data)))
            case _:
                break
    raise SessionNotFoundError(f"not a session file: {path}", path=path)


def index_entries(read: Read, opening: Opening, size: int) -> FileIndex:
    """The index of everything behind the header."""
    index = FileIndex()
    scanner = _Scanner(read, index)
    offset, number = opening.end, opening.lines
    with collecting_paused():
        while offset < size:
            used, number = scanner.take_block(
                read(offset, min(offset + _BLOCK, size)), offset, number
            )
            offset += used
            if not used:  # a line that is longer than a block, or the last one without its LF
                line = next(forward_lines(read, offset, size))
                number += 1
                scanner.take(line, number)
                offset = line.end + line.is_ended
    scanner.finish()
    return index


class _Scanner:
    def __init__(self, read: Read, index: FileIndex) -> None:
        self._read = read
        self._index = index
        self._kinds: dict[bytes, str] = {}
        """One string for each kind, however many lines there are of it."""
        self._repeated: tuple[int, int] | None = None
        """First and last of a run of lines that repeat earlier ones (Pi's double write, P3)."""
        self._twins: dict[str, EntryId] = {}
        """Digest of a line whose id a later one took → what it goes by."""
        self._first_twin: tuple[EntryId, int] | None = None

    def take_block(self, data: bytes, base: int, number: int) -> tuple[int, int]:
        """Take the whole lines of a block; how many bytes they are, and the last one's number."""
        position = 0
        while True:
            number += 1
            quick = match_whole_line(data, position)
            if quick is not None and quick[1] not in _TOLD:
                end = quick.end()
                start = position + base
                self._take_quickly(quick, start, end + base - 1, number)
                position = end
                continue
            end = data.find(b"\n", position)
            if end < 0:
                return position, number - 1
            self.take(LineSpan(base + position, base + end, data[position:end], True), number)
            position = end + 1

    def _take_quickly(self, quick: re.Match[bytes], start: int, end: int, number: int) -> None:
        raw_kind, name, parent = quick.group("type", "id", "parent")
        kind = self._kinds.get(raw_kind)
        if kind is None:
            kind = self._kinds[raw_kind] = raw_kind.decode()
        index = self._index
        entry = EntryId(name.decode("utf-8", "replace"))
        above = None if parent is None else EntryId(parent.decode("utf-8", "replace"))
        if not index.tree.add(entry, above, kind):
            data = quick.group().removesuffix(b"\n")
            if not self._take_again(entry, above, kind, data, number):
                return
        index.starts.append(start)
        index.ends.append(end)
        index.lines.append(number)

    def take(self, line: LineSpan, number: int) -> None:
        if not line.data.strip():
            return
        decoded = decode_line(line.data)
        notices = self._index.notices
        match decoded:
            case Header():
                notices.append(
                    ReadNotice("a second header; the first one counts", number, "repeated")
                )
            case Unreadable(reason):
                notices.append(
                    torn_notice(line, number)
                    if not line.is_ended
                    else _skipped(reason, number, len(line.data))
                )
            case Entry(body=Damaged()) if not line.is_ended:
                notices.append(torn_notice(line, number))
            case Entry():
                self._take_entry(decoded, line, number)

    def _take_entry(self, entry: Entry, line: LineSpan, number: int) -> None:
        if not isinstance(entry.body, Damaged) and has_junk(line.data):
            self._index.notices.append(junk_notice(line, number))
        if not self._add(entry.id, entry.parent, entry.body.type, line, number):
            return
        tree = self._index.tree
        match entry.body:
            case Label(target, label):
                tree.set_label(target, label)
            case SessionInfo(name):
                tree.name = name or None
            case Damaged(reason):
                self._index.notices.append(
                    ReadNotice(
                        f"{len(line.data)} bytes are {reason}; only the entry's id was kept",
                        number,
                    )
                )
            case _:
                pass

    def _add(
        self, entry: EntryId, parent: EntryId | None, kind: str, line: LineSpan, number: int
    ) -> bool:
        index = self._index
        if not index.tree.add(entry, parent, kind) and not self._take_again(
            entry, parent, kind, line.data, number
        ):
            return False
        index.starts.append(line.start)
        index.ends.append(line.end)
        index.lines.append(number)
        return True

    def _take_again(
        self, entry: EntryId, parent: EntryId | None, kind: str, data: bytes, number: int
    ) -> bool:
        """A line whose id is taken. True where it is another entry, and was added as one."""
        tree = self._index.tree
        start, end = self._index.place(entry)
        before = self._read(start, end)
        if before.rstrip(b"\r") == data.rstrip(b"\r"):
            self._repeat(number)
            return False
        name = self._twin_name(before)
        if (twin := self._twins.get(_digest(data))) is not None and twin in tree:
            tree.mean_again(entry, twin, name)
            self._repeat(number)
            return False
        tree.add_twin(entry, parent, kind, name)
        self._first_twin = self._first_twin or (entry, number)
        return True

    def _twin_name(self, line: bytes) -> EntryId:
        """What a line goes by whose id a later one has: a digest of it, alike for each reader."""
        digest = _digest(line)
        name = EntryId(digest[:8])
        turn = 8
        while name in self._index.tree:
            turn += 8
            name = EntryId(digest[:turn])
        self._twins[digest] = name
        return name

    def _repeat(self, number: int) -> None:
        if self._repeated is not None and self._repeated[1] == number - 1:
            self._repeated = (self._repeated[0], number)
            return
        self._tell_repeated()
        self._repeated = (number, number)

    def _tell_repeated(self) -> None:
        if self._repeated is None:
            return
        first, last = self._repeated
        text = "an earlier line stands here again"
        if last > first:
            text = f"lines {first} to {last} repeat earlier ones"
        self._index.notices.append(ReadNotice(text, first, "repeated"))
        self._repeated = None

    def finish(self) -> None:
        self._tell_repeated()
        tree = self._index.tree
        if self._first_twin is not None:
            entry, line = self._first_twin
            text = (
                f"{len(self._twins)} lines have the id of a later, different line (the first:"
                f" {entry}); each is an entry, and the earlier ones go by ids of their own"
            )
            self._index.notices.append(ReadNotice(text, line))
        circles = tree.settle()
        for entry in circles:
            self._place_notice(
                f"the parents of {entry} form a circle; it is shown as a root", entry
            )
        for entry in tree.missing:
            parent = tree.stated_parent(entry)
            self._place_notice(missing_parent_text(entry, parent), entry)
        self._index.notices.sort(key=lambda notice: notice.line or 0)

    def _place_notice(self, text: str, entry: EntryId) -> None:
        line = self._index.lines[self._index.tree.number(entry)]
        self._index.notices.append(ReadNotice(text, line))


def _digest(line: bytes) -> str:
    return hashlib.sha256(line.rstrip(b"\r")).hexdigest()


def missing_parent_text(entry: EntryId, parent: EntryId | None) -> str:
    return f"the parent {parent} of {entry} is not in the file: what came before it is cut off"


def junk_notice(line: LineSpan, number: int) -> ReadNotice:
    junk = len(line.data.strip()) - len(record_in(line.data))
    return ReadNotice(f"{junk} bytes around a record are no part of it; the record counts", number)


def torn_notice(line: LineSpan, number: int) -> ReadNotice:
    return ReadNotice(
        f"the last line was cut off; its {len(line.data)} bytes are kept", number, "torn"
    )


def _skipped(reason: str, number: int, length: int) -> ReadNotice:
    return ReadNotice(f"skipped {length} bytes that are {reason}", number)
