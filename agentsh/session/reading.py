"""The read side of a session: its header, the path of its leaf, any entry, and on demand the index.

Opening reads the first line and the end of the file; the whole is scanned only when something asks
for the tree, or for an entry off the path. Nothing here writes. Read next: session.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Protocol

from agentsh.session.codec import decode_line
from agentsh.session.decoding import collecting_paused
from agentsh.session.entries import (
    Branch,
    Compaction,
    Damaged,
    Entry,
    EntryId,
    Header,
    Label,
    Notice,
    SessionInfo,
)
from agentsh.session.lines import Read
from agentsh.session.scan import Index, Opening, kind_of, missing_parent_text, scan
from agentsh.session.tail import Torn, cut_start, is_checkpoint, read_ending
from agentsh.session.tree import Tree

_SHORT_ID = re.compile(rb'"id"\s*:\s*"([0-9a-f]{8})"')
_ID_BLOCK = 1 << 22
# up to here a writer looks at all of a file: for every id before it adds its own (above, chance
# decides between ids that it did not make itself: one in 2^32 for each pair, docs/adr/0009), and
# for calls that were made before
_READ_ALL = 64 << 20
_ID_OVERLAP = 64
_PIECE = 1 << 20


class Log(Protocol):
    """Where the bytes are: log.py, memory.py, converted.py."""

    @property
    def size(self) -> int: ...

    def read(self, start: int, end: int) -> bytes: ...

    def commit(self, data: bytes, *, durable: bool) -> int:
        """Append; where the bytes begin. See log.py for what it raises."""
        ...

    def close(self) -> None: ...


class _Known:
    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def __contains__(self, entry: object) -> bool:
        return self._reading.knows(entry)


class Reading:
    """What is in the file as of `size`. `extend` adds what this process appended since."""

    def __init__(self, read: Read, opening: Opening, size: int) -> None:
        self._read = read
        self._opening = opening
        self._size = size
        self.header: Header = opening.header
        self._index: Index | None = None
        self._notices: list[Notice] = list(opening.notices)
        ending = read_ending(read, opening.end, size)
        self._notices += ending.notices
        self.torn: Torn | None = ending.torn
        self.path: list[Entry] = list(ending.entries)
        """The entries of the leaf's path, maybe only the live part of it."""
        self.is_complete = ending.complete
        self._cut_by = ending.cut_by
        self.leaf: EntryId | None = ending.leaf
        self._live: Branch | None = None
        """What `live` said of the leaf."""
        self.lines = ending.lines
        """Of the file as of `size`, where reading its end has counted them."""
        self._own: dict[EntryId, Entry] = {}
        self._own_places: dict[EntryId, tuple[int, int]] = {}
        self._on_path: dict[EntryId, Entry] | None = None
        self._ending = ending
        self._on_path_places: dict[EntryId, tuple[int, int]] | None = None
        self._taken: set[str] = set()
        self.known: Container[str] = _Known(self)
        """Ids that are known to be taken; asking reads nothing."""
        if ending.lost is not None:
            self._read_lost_path(ending.lost)

    @property
    def notices(self) -> tuple[Notice, ...]:
        return tuple(dict.fromkeys(self._notices))

    # ---- the index -----------------------------------------------------------------------------

    @property
    def index(self) -> Index:
        if self._index is None:
            self._index = scan(self._read, self._opening, self._size)
            self._notices += self._index.notices
            for entry in self._own.values():
                self._index_own(self._index, entry)
        return self._index

    @property
    def tree(self) -> Tree:
        return self.index.tree

    def _read_lost_path(self, lost: EntryId) -> None:
        """A parent stands after its child, or is missing: only the index can tell."""
        ids = self.tree.path(self.leaf)
        first = self.path[0].id
        if ids and ids[0] == first:
            if lost not in self.tree:
                line = self.index.lines[self.tree.number(first)]
                self._notices.append(Notice(missing_parent_text(first, lost), line))
            return
        self.path = [self.entry(each) for each in ids]

    def learn_ids(self) -> None:
        """Know every id that ours might clash with; a word too many does no harm."""
        self._taken.update(word.decode() for word in self.words(_SHORT_ID, self._size))

    def words(self, pattern: re.Pattern[bytes], size: int) -> set[bytes]:
        """All that a short pattern finds in the file; in one above 64 MiB nothing is looked for."""
        found: set[bytes] = set()
        at = 0
        while at < size <= _READ_ALL:
            found.update(pattern.findall(self._read(at, min(at + _ID_BLOCK + _ID_OVERLAP, size))))
            at += _ID_BLOCK
        return found

    # ---- entries -------------------------------------------------------------------------------

    def entry(self, entry: EntryId) -> Entry:
        """Raises EntryNotFoundError."""
        known = self._own.get(entry) or self._known_path().get(entry)
        return known if known is not None else self._decode(entry)

    def raw(self, entry: EntryId) -> bytes:
        """The line as it stands in the file, without its LF."""
        return self._read(*self._place(entry))

    def lines_of(
        self, entries: Iterable[EntryId], raw: Callable[[EntryId], bytes]
    ) -> Iterator[bytes]:
        """What `raw` gives for each, and one LF behind it; neighbours in the file are one piece."""
        start = end = 0
        for entry in entries:
            if entry in self._own:
                yield self._joined(start, end)
                start = end = 0
                yield raw(entry) + b"\n"
                continue
            place = self._place(entry)
            if place[0] != end + 1 or end - start > _PIECE:
                yield self._joined(start, end)
                start = place[0]
            end = place[1]
        yield self._joined(start, end)

    def _joined(self, start: int, end: int) -> bytes:
        return self._read(start, end) + b"\n" if end > start else b""

    def _place(self, entry: EntryId) -> tuple[int, int]:
        """Where its line lies; of an id that stands there twice, the one that was decoded."""
        own = self._own_places.get(entry) or self._places_on_path().get(entry)
        return self.index.place(entry) if own is None else own

    def _places_on_path(self) -> dict[EntryId, tuple[int, int]]:
        """Of what was read backwards."""
        if self._on_path_places is None:
            ids = [entry.id for entry in self._ending.entries]
            starts, ends = self._ending.places[::2], self._ending.places[1::2]
            self._on_path_places = dict(zip(ids, zip(starts, ends, strict=True), strict=True))
        return self._on_path_places

    def __contains__(self, entry: EntryId) -> bool:
        return entry in self._own or entry in self._known_path() or entry in self.tree

    def knows(self, entry: object) -> bool:
        """Whether an id is taken, as far as was read."""
        if self._index is not None and entry in self._index.tree:
            return True
        return entry in self._taken or entry in self._own or entry in self._known_path()

    def _known_path(self) -> dict[EntryId, Entry]:
        if self._on_path is None:
            self._on_path = {entry.id: entry for entry in self.path}
        return self._on_path

    def _decode(self, entry: EntryId) -> Entry:
        start, end = self.index.place(entry)
        found = decode_line(self._read(start, end))
        if isinstance(found, Entry):
            return found
        stated = self.tree.stated_parent(entry)
        return Entry(entry, stated, "", Damaged("not readable any more"))

    # ---- paths ---------------------------------------------------------------------------------

    def whole(self, at: EntryId | None) -> Branch:
        """Root → `at`, everything."""
        if at is None:
            return Branch(())
        if self.is_complete and (found := self._upto(at)) is not None:
            return Branch(found)
        with collecting_paused():
            return Branch(tuple(self.entry(each) for each in self.tree.path(at)))

    def live(self, at: EntryId | None) -> Branch:
        """What a projection of root → `at` needs."""
        if at is None:
            return Branch(())
        if at != self.leaf:
            return self._live_at(at)
        if self._live is None:
            self._live = self._live_at(at)
        return self._live

    def _live_at(self, at: EntryId) -> Branch:
        found = self._upto(at)
        if found is not None:
            start = cut_start(found)
            if start or self.is_complete or self._begins_at_kept(found):
                return Branch(found[start:], self.is_complete and start == 0)
        return self._live_from_index(at)

    def _begins_at_kept(self, entries: tuple[Entry, ...]) -> bool:
        """True where the last compaction of these is the one that let the path begin late."""
        last = next((e for e in reversed(entries) if isinstance(e.body, Compaction)), None)
        return last is not None and (last.id == self._cut_by or is_checkpoint(last.body))

    def _upto(self, at: EntryId) -> tuple[Entry, ...] | None:
        if at == self.leaf:
            return tuple(self.path)
        if at not in self._known_path():
            return None
        number = next(i for i, entry in enumerate(self.path) if entry.id == at)
        return tuple(self.path[: number + 1])

    def _live_from_index(self, at: EntryId) -> Branch:
        ids = self.tree.path(at)
        kinds = [self.tree.kind(each) for each in ids]
        start = 0
        if "compaction" in kinds:
            last = len(kinds) - 1 - kinds[::-1].index("compaction")
            body = self.entry(ids[last]).body
            if isinstance(body, Compaction) and is_checkpoint(body):
                kept = body.first_kept
                start = ids.index(kept) if kept is not None and kept in ids[:last] else last
        with collecting_paused():
            return Branch(tuple(self.entry(each) for each in ids[start:]), start == 0)

    # ---- what this process does ----------------------------------------------------------------

    def extend(self, entry: Entry) -> None:
        """An entry was appended here; it is the leaf now."""
        self._own[entry.id] = entry
        self._live = None
        if entry.parent == self.leaf:
            self.path.append(entry)
            if self._on_path is not None:
                self._on_path[entry.id] = entry
        else:
            branch = self.live(entry.parent)
            self.path = [*branch.entries, entry]
            self.is_complete = branch.complete
            self._on_path = None
        self.leaf = entry.id
        if self._index is not None:
            self._index_own(self._index, entry)

    def put(self, entry: EntryId, start: int, end: int) -> None:
        """Where an entry that was appended here came to lie."""
        self._own_places[entry] = (start, end)

    def own(self) -> dict[EntryId, tuple[Entry, tuple[int, int] | None]]:
        """What was appended here, in order, and where it lies."""
        return {key: (entry, self._own_places.get(key)) for key, entry in self._own.items()}

    def without(self, gone: set[EntryId]) -> Reading:
        """The same, read anew, as if those had not been appended."""
        again = Reading(self._read, self._opening, self._size)
        for key, (entry, place) in self.own().items():
            if key not in gone:
                again.extend(entry)
                if place is not None:
                    again.put(key, *place)
        return again

    def _index_own(self, index: Index, entry: Entry) -> None:
        index.tree.add(entry.id, entry.parent, kind_of(entry))
        index.starts.append(0)
        index.ends.append(0)
        index.lines.append(0 if entry.stamp is None else entry.stamp.line + 1)
        match entry.body:
            case Label(target, label):
                index.tree.set_label(target, label)
            case SessionInfo(name):
                index.tree.name = name or None
            case _:
                pass
