"""Where the entries of one file stand: on the leaf's path, folded away by a compaction, or beside.

Read off the file's index (scan.py) and its last line; of entries only a compaction and, for a
tool's result, the calls above it are decoded. Writes nothing. Read next: search.py.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Literal, TypeAlias

from agentsh.session.file.scan import index_entries
from agentsh.session.format.codec import decode_line
from agentsh.session.format.entries import Compaction, Damaged, Entry, EntryId
from agentsh.session.format.lines import backward_lines
from agentsh.session.search.searchable import read_saying
from agentsh.session.store.reader import SessionReader

Placement: TypeAlias = Literal["path", "compacted", "branch"]
# a result stands right below its call, or below other results of the same message
_MOST_STEPS = 200


class Whereabouts:
    """Made for a file in which something was found."""

    def __init__(self, source: SessionReader) -> None:
        self._source = source
        self._index = index_entries(source.read, source.opening, source.size)
        self.tree = self._index.tree
        self.leaf = _leaf(source)
        self._path = self.tree.path(self.leaf if self.leaf in self.tree else None)
        self._on_path = frozenset(self._path)
        self._folded = frozenset(self._folded_away())

    def entry_at(self, start: int) -> EntryId | None:
        """The entry of the line that begins there; None for a line that repeats another (S25)."""
        starts = self._index.starts
        number = bisect_left(starts, start)
        is_one = number < len(starts) and starts[number] == start
        return self.tree.at(number) if is_one else None

    def line(self, entry: EntryId) -> int:
        """Number of its line, from 1."""
        return self._index.lines[self.tree.number(entry)]

    def raw(self, entry: EntryId) -> bytes:
        """Its line, without its LF. Raises EntryNotFoundError."""
        return self._source.read(*self._index.place(entry))

    def on_path(self, entry: EntryId) -> bool:
        return entry in self._on_path

    def place(self, entry: EntryId) -> Placement:
        if entry not in self._on_path:
            return "branch"
        return "compacted" if entry in self._folded else "path"

    def files_of_call(self, entry: EntryId, call: str) -> tuple[str, ...]:
        """The files that the call is about of which this entry is the result."""
        above = self.tree.parent(entry)
        for _ in range(_MOST_STEPS):
            if above is None:
                break
            saying = read_saying(self.raw(above))
            if saying is not None and call in saying.calls:
                return saying.files
            above = self.tree.parent(above)
        return ()

    def _folded_away(self) -> tuple[EntryId, ...]:
        """What the last compaction of the path stands for."""
        for number in range(len(self._path) - 1, -1, -1):
            if self.tree.kind(self._path[number]) != "compaction":
                continue
            entry = decode_line(self.raw(self._path[number]))
            if not isinstance(entry, Entry) or not isinstance(entry.body, Compaction):
                continue
            before = self._path[:number]
            first_kept = entry.body.first_kept
            return before[: before.index(first_kept)] if first_kept in before else before
        return ()


def _leaf(source: SessionReader) -> EntryId | None:
    """The last entry that can be read (reading.py says the same)."""
    for line in backward_lines(source.read, source.size, source.opening.end):
        decoded = decode_line(line.data) if line.data.strip() else None
        if isinstance(decoded, Entry) and not isinstance(decoded.body, Damaged):
            return decoded.id
    return None
