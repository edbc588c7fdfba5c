"""A whole file → its index: where each entry lies and whose child it is, mostly without parsing.

Lines in Pi's and our order (`{"type":…,"id":…,"parentId":…`) are read by one pattern; others (Pi's
`custom` lines have their id last) are parsed. A line that begins well is taken for an entry even if
it is broken further on: reading it then yields Damaged, and its children stay reachable. Labels and
the name are file-wide, so their lines are decoded here. Read next: tail.py for the quicker way.
"""

from __future__ import annotations

import re
from array import array

from msgspec import Struct, field

from agentsh.errors import SessionNotFoundError
from agentsh.session.codec import Unreadable, decode_line
from agentsh.session.decoding import collecting_paused
from agentsh.session.entries import (
    Damaged,
    Entry,
    EntryId,
    Header,
    Label,
    Notice,
    SessionInfo,
)
from agentsh.session.lines import Line, Read, forward_lines
from agentsh.session.tree import Tree

BOM = b"\xef\xbb\xbf"
QUICK = re.compile(
    rb'\{"type":"([a-z_]+)","id":"([^"\\]+)","parentId":(?:null|"([^"\\]*)"),"timestamp":"'
)
_WHOLE_LINE = re.compile(QUICK.pattern + rb"[^\n]*\}\r?\n")
_BLOCK = 1 << 20
# kinds whose body the index needs
_TOLD = frozenset({b"label", b"session_info", b"session"})
_JUNK_BEFORE_HEADER = 1 << 20


class Opening(Struct, frozen=True):
    """The beginning of a file: the header and where the entries start."""

    header: Header
    end: int
    """Offset behind the header's line."""
    lines: int
    """Lines up to there."""
    notices: tuple[Notice, ...]


class Index(Struct):
    """Every entry of a file. The n-th of `tree` lies at `starts[n]`…`ends[n]`, line `lines[n]`."""

    tree: Tree = field(default_factory=Tree)
    starts: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))
    lines: array[int] = field(default_factory=lambda: array("q"))
    notices: list[Notice] = field(default_factory=list)

    def place(self, entry: EntryId) -> tuple[int, int]:
        number = self.tree.number(entry)
        return self.starts[number], self.ends[number]


def read_opening(read: Read, size: int, path: str) -> Opening:
    """Find the header. Raises SessionNotFoundError where the file is no session."""
    notices: list[Notice] = []
    for number, line in enumerate(forward_lines(read, 0, size), start=1):
        data = line.data
        if number == 1 and data.startswith(BOM):
            notices.append(Notice("the file begins with a byte order mark", 1, "bom"))
            data = data[len(BOM) :]
        if not data.strip():
            continue
        found = decode_line(data)
        match found:
            case Header():
                return Opening(found, line.end + line.is_ended, number, tuple(notices))
            case Unreadable() | Entry(body=Damaged()) if line.end < _JUNK_BEFORE_HEADER:
                notices.append(_skipped("not JSON", number, len(data)))
            case _:
                break
    raise SessionNotFoundError(f"not a session file: {path}", path=path)


def scan(read: Read, opening: Opening, size: int) -> Index:
    """The index of everything behind the header."""
    index = Index()
    scanner = _Scanner(read, index)
    at, number = opening.end, opening.lines
    with collecting_paused():
        while at < size:
            used, number = scanner.take_block(read(at, min(at + _BLOCK, size)), at, number)
            at += used
            if not used:  # a line that is longer than a block, or the last one without its LF
                line = next(forward_lines(read, at, size))
                number += 1
                scanner.take(line, number)
                at = line.end + line.is_ended
    scanner.finish()
    return index


class _Scanner:
    def __init__(self, read: Read, index: Index) -> None:
        self._read = read
        self._index = index
        self._kinds: dict[bytes, str] = {}
        """One string for each kind, however many lines there are of it."""
        self._repeated: tuple[int, int] | None = None
        """First and last of a run of lines that repeat earlier ones (Pi's double write, P3)."""

    def take_block(self, data: bytes, base: int, number: int) -> tuple[int, int]:
        """Take the whole lines of a block; how many bytes they are, and the last one's number."""
        position = 0
        match = _WHOLE_LINE.match
        while True:
            number += 1
            quick = match(data, position)
            if quick is not None and quick[1] not in _TOLD:
                end = quick.end()
                start = position + base
                self._take_quickly(quick, start, end + base - 1, number)
                position = end
                continue
            end = data.find(b"\n", position)
            if end < 0:
                return position, number - 1
            self.take(Line(base + position, base + end, data[position:end], True), number)
            position = end + 1

    def _take_quickly(self, quick: re.Match[bytes], start: int, end: int, number: int) -> None:
        raw_kind, name, parent = quick.groups()
        kind = self._kinds.get(raw_kind)
        if kind is None:
            kind = self._kinds[raw_kind] = raw_kind.decode()
        index = self._index
        if index.tree.add(
            EntryId(name.decode("utf-8", "replace")),
            None if parent is None else EntryId(parent.decode("utf-8", "replace")),
            kind,
        ):
            index.starts.append(start)
            index.ends.append(end)
            index.lines.append(number)
            return
        self._take_again(
            EntryId(name.decode("utf-8", "replace")), quick.group().removesuffix(b"\n"), number
        )

    def take(self, line: Line, number: int) -> None:
        if not line.data.strip():
            return
        found = decode_line(line.data)
        notices = self._index.notices
        match found:
            case Header():
                notices.append(Notice("a second header; the first one counts", number, "repeated"))
            case Unreadable(reason):
                notices.append(
                    torn_notice(line, number)
                    if not line.is_ended
                    else _skipped(reason, number, len(line.data))
                )
            case Entry(body=Damaged()) if not line.is_ended:
                notices.append(torn_notice(line, number))
            case Entry():
                self._take_entry(found, line, number)

    def _take_entry(self, entry: Entry, line: Line, number: int) -> None:
        if not self._add(entry.id, entry.parent, kind_of(entry), line, number):
            return
        tree = self._index.tree
        match entry.body:
            case Label(target, label):
                tree.set_label(target, label)
            case SessionInfo(name):
                tree.name = name or None
            case Damaged(reason):
                self._index.notices.append(
                    Notice(
                        f"{len(line.data)} bytes are {reason}; only the entry's id was kept",
                        number,
                    )
                )
            case _:
                pass

    def _add(
        self, entry: EntryId, parent: EntryId | None, kind: str, line: Line, number: int
    ) -> bool:
        index = self._index
        if not index.tree.add(entry, parent, kind):
            self._take_again(entry, line.data, number)
            return False
        index.starts.append(line.start)
        index.ends.append(line.end)
        index.lines.append(number)
        return True

    def _take_again(self, entry: EntryId, data: bytes, number: int) -> None:
        """A line whose id is taken."""
        start, end = self._index.place(entry)
        if self._read(start, end).rstrip(b"\r") != data.rstrip(b"\r"):
            text = f"the id {entry} is taken by an earlier line, which counts"
            self._index.notices.append(Notice(text, number))
            return
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
        self._index.notices.append(Notice(text, first, "repeated"))
        self._repeated = None

    def finish(self) -> None:
        self._tell_repeated()
        tree = self._index.tree
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
        self._index.notices.append(Notice(text, line))


def kind_of(entry: Entry) -> str:
    """The `type` of an entry, as the tree keeps it."""
    from_body = _KINDS.get(type(entry.body).__name__)
    return from_body if from_body is not None else getattr(entry.body, "type", "")


_KINDS = {
    "MessageBody": "message",
    "ModelChange": "model_change",
    "ThinkingLevelChange": "thinking_level_change",
    "Compaction": "compaction",
    "BranchSummary": "branch_summary",
    "Custom": "custom",
    "CustomMessage": "custom_message",
    "Label": "label",
    "SessionInfo": "session_info",
    "UsageRecord": "usage",
    "ContextEdit": "context_edit",
    "Damaged": "",
}


def missing_parent_text(entry: EntryId, parent: EntryId | None) -> str:
    return f"the parent {parent} of {entry} is not in the file: what came before it is cut off"


def torn_notice(line: Line, number: int) -> Notice:
    return Notice(f"the last line was cut off; its {len(line.data)} bytes are kept", number, "torn")


def _skipped(reason: str, number: int, length: int) -> Notice:
    return Notice(f"skipped {length} bytes that are {reason}", number)
