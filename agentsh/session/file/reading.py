"""The read side of a session: its header, the path of its leaf, any entry, and on demand the index.

Opening reads the first line and the end of the file; the whole is scanned only when something asks
for the tree, or for an entry off the path. The leaf is what the last line leads to (H04). Nothing
here writes. Read next: session.py.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Protocol

from msgspec.structs import replace

from agentsh.session.file.scan import FileIndex, Opening, index_entries, missing_parent_text
from agentsh.session.file.tail import (
    Torn,
    cut_start,
    is_checkpoint,
    kept_by,
    names_model,
    read_ending,
)
from agentsh.session.file.tree import Tree
from agentsh.session.format.codec import decode_line
from agentsh.session.format.decoding import collecting_paused
from agentsh.session.format.entries import (
    Branch,
    Compaction,
    Damaged,
    Entry,
    EntryId,
    Header,
    Label,
    PathEntries,
    ReadNotice,
    SessionInfo,
    last_place,
)
from agentsh.session.format.factcodec import words_of
from agentsh.session.format.facts import TurnEnded
from agentsh.session.format.ids import short_id
from agentsh.session.format.lines import Read, forward_lines
from agentsh.session.health.rechain import told_apart
from agentsh.session.health.unfinished import Whose, plan_entered_turn

_SHORT_ID = re.compile(rb'"id"\s*:\s*"([0-9a-f]{8})"')
# up to here a writer looks for every id before it adds its own; above, its ids are wide ones
# (docs/adr/0009)
_LEARN_ALL = 64 << 20
_BLOCK = 1 << 22
_OVERLAP = 64
"""Bytes of the next block that are looked at with each: no longer words are looked for."""
_PIECE = 1 << 20


class Log(Protocol):
    """Where the bytes are: log.py, memory_log.py, converted.py."""

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
        self._index: FileIndex | None = None
        self._notices: list[ReadNotice] = list(opening.notices)
        ending = read_ending(read, opening.end, size, short_id(opening.header.id))
        self._notices += ending.notices
        self.torn: Torn | None = ending.torn
        self.path: list[Entry] = list(ending.entries)
        """The entries of the leaf's path, maybe only the live part of it."""
        self.is_complete = ending.complete
        self._cut_by = ending.cut_by
        """The last compaction of a path that is not complete: what is missing stands before the
        range that this one kept, and only it may be trusted for that."""
        self._gapless = self._first_kept_of_path()
        self.leaf: EntryId | None = ending.leaf
        self._before: tuple[EntryId | None, list[Entry], bool, EntryId | None] | None = None
        """The leaf before the last move, its path, whether that is complete and by what it is cut:
        who comes back need not read it again."""
        self._entries: PathEntries | None = None
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
    def notices(self) -> tuple[ReadNotice, ...]:
        return tuple(dict.fromkeys(self._notices))

    # ---- the index -----------------------------------------------------------------------------

    @property
    def index(self) -> FileIndex:
        if self._index is None:
            self._index = index_entries(self._read, self._opening, self._size)
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
        if ids and ids[0] == first and not self._ending.is_twin:
            if lost not in self.tree:
                line = self.index.lines[self.tree.number(first)]
                self._notices.append(ReadNotice(missing_parent_text(first, lost), line))
            return
        with collecting_paused():
            self.path = [self._decode(each) for each in ids]
        self._on_path = self._on_path_places = self._entries = None
        self._ending = replace(self._ending, entries=(), places=array("q"))
        self.is_complete, self._cut_by, self._gapless = True, None, 0

    def learn_ids(self) -> bool:
        """Know every id that ours might clash with; a word too many does no harm. False where the
        file is too large to be looked at for that."""
        if self._size > _LEARN_ALL:
            return False
        self._taken.update(word.decode() for word in self.words(_SHORT_ID, self._size))
        return True

    def words(self, pattern: re.Pattern[bytes], size: int) -> set[bytes]:
        """All that a short pattern finds in the file, which is read once, block by block."""
        matches: set[bytes] = set()
        for offset in range(0, size, _BLOCK):
            block = self._read(offset, min(offset + _BLOCK + _OVERLAP, size))
            matches.update(pattern.findall(block))
        return matches

    def with_words(self, words: Sequence[bytes], size: int) -> Iterator[Entry]:
        """The entries whose line holds one of the words; what was only queued comes last."""
        for line in forward_lines(self._read, self._opening.end, size):
            if any(word in line.data for word in words):
                decoded = decode_line(line.data)
                if isinstance(decoded, Entry):
                    yield decoded
        yield from (e for key, e in self._own.items() if key not in self._own_places)

    def whose(self, entries: Sequence[Entry]) -> Whose:
        """What must be known of the file to tell whether a turn of that path is open."""
        whose = Whose(short_id(self.header.id))
        if plan_entered_turn(entries, whose) is None:
            return whose
        ended = self.words(words_of(TurnEnded, "start", rb'[^"\\]{1,40}'), self._size)
        return Whose(whose.session, frozenset(EntryId(word.decode()) for word in ended))

    # ---- entries -------------------------------------------------------------------------------

    def entry(self, entry: EntryId) -> Entry:
        """Raises EntryNotFoundError."""
        decoded = self._own.get(entry) or self._known_path().get(entry)
        return decoded if decoded is not None else self._decode(entry)

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
            span = self._place(entry)
            if span[0] != end + 1 or end - start > _PIECE:
                yield self._joined(start, end)
                start = span[0]
            end = span[1]
        yield self._joined(start, end)

    def _joined(self, start: int, end: int) -> bytes:
        return self._read(start, end) + b"\n" if end > start else b""

    def _place(self, entry: EntryId) -> tuple[int, int]:
        """The offsets of the entry's line. Of two with its id it is the one that was decoded."""
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
        decoded = decode_line(told_apart(self._read(start, end), self.tree, entry))
        stated = self.tree.stated_parent(entry)
        if not isinstance(decoded, Entry):
            return Entry(entry, stated, "", Damaged("not readable any more"))
        # of a broken line only the tree knows which of two lines its id means
        return decoded if decoded.id == entry else replace(decoded, id=entry, parent=stated)

    # ---- paths ---------------------------------------------------------------------------------

    def whole(self, entry: EntryId | None) -> Branch:
        """Root → `entry`, everything."""
        if entry is None:
            return Branch(())
        if self.is_complete and (entries := self._upto(entry)) is not None:
            return Branch(entries)
        with collecting_paused():
            return Branch(tuple(self.entry(each) for each in self.tree.path(entry)))

    def live(self, entry: EntryId | None) -> Branch:
        """What a projection of root → `entry` needs."""
        if entry is None:
            return Branch(())
        if entry != self.leaf:
            return self._live_at(entry)
        if self._live is None:
            self._live = self._live_at(entry)
        return self._live

    def _live_at(self, entry: EntryId) -> Branch:
        entries = self._upto(entry)
        start = None if entries is None else self._live_start(entries)
        if entries is None or start is None:
            return self._live_from_index(entry)
        live = entries[start:] if start else entries
        return Branch(live, self.is_complete and start == 0)

    def _live_start(self, entries: tuple[Entry, ...]) -> int | None:
        """The position of the first live entry; None if it may lie in what was not read.

        `entries` is the path as it was read, up to a place of it. What was read for the leaf is not
        all that another place needs: an earlier compaction may have kept from further up.
        """
        if self.is_complete:
            return cut_start(entries)
        cut = last_place(entries, Compaction)
        if cut is None:
            return None
        last = entries[cut]
        if last.id == self._cut_by and (is_checkpoint(last.body) or any(map(names_model, entries))):
            return 0
        if not is_checkpoint(last.body):
            return None
        first_kept = kept_by(last)
        read = range(self._gapless, cut + 1)
        return next((i for i in read if entries[i].id == first_kept), None)

    def _first_kept_of_path(self) -> int:
        """From which index of an incomplete path on none of its entries is missing."""
        cut = next((e for e in self.path if e.id == self._cut_by), None) if self._cut_by else None
        if cut is None:
            return 0
        first_kept = kept_by(cut)
        return next((i for i, e in enumerate(self.path) if e.id == first_kept), 0)

    @property
    def entries(self) -> PathEntries:
        """The path as it was read: one and the same value until something is appended."""
        if self._entries is None:
            self._entries = PathEntries(self.path)
        return self._entries

    def _upto(self, target: EntryId) -> tuple[Entry, ...] | None:
        if target == self.leaf:
            return self.entries
        if target not in self._known_path():
            return None
        number = next(i for i, entry in enumerate(self.path) if entry.id == target)
        return tuple(self.path[: number + 1])

    def _live_from_index(self, entry: EntryId) -> Branch:
        ids = self.tree.path(entry)
        kinds = [self.tree.kind(each) for each in ids]
        start = 0
        if "compaction" in kinds:
            last = len(kinds) - 1 - kinds[::-1].index("compaction")
            body = self.entry(ids[last]).body
            if isinstance(body, Compaction) and is_checkpoint(body):
                start = next((i for i in range(last) if ids[i] == body.first_kept), last)
        with collecting_paused():
            return Branch(tuple(self.entry(each) for each in ids[start:]), start == 0)

    # ---- what this process does ----------------------------------------------------------------

    def extend(self, entry: Entry) -> None:
        """An entry was appended here; it is the leaf now."""
        self._own[entry.id] = entry
        self._live = self._entries = None
        if entry.parent == self.leaf:
            self.path.append(entry)
            if self._on_path is not None:
                self._on_path[entry.id] = entry
        elif self._before is not None and entry.parent == self._before[0]:
            _, path, self.is_complete, self._cut_by = self._before
            self._before = None
            self.path = [*path, entry]
            self._on_path, self._gapless = None, self._first_kept_of_path()
        else:
            self._before = (self.leaf, self.path, self.is_complete, self._cut_by)
            branch = self.live(entry.parent)
            self.path = [*branch.entries, entry]
            self._on_path = None
            self.is_complete = branch.complete
            cut = None if branch.complete else last_place(branch.entries, Compaction)
            self._cut_by = None if cut is None else branch.entries[cut].id
            self._gapless = self._first_kept_of_path()
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
        for key, (entry, span) in self.own().items():
            if key not in gone:
                again.extend(entry)
                if span is not None:
                    again.put(key, *span)
        return again

    def _index_own(self, index: FileIndex, entry: Entry) -> None:
        index.tree.add(entry.id, entry.parent, entry.body.type)
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
