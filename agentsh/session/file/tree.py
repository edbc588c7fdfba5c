"""The tree of a session: a pure index of ids, parents and kinds in file order. Knows no bytes.

Damage is read around and never raises (H02): a parent that is nowhere makes its child one more root
(S03), a parent chain that closes on itself is opened where the file first closed it. Every walk
ends.

Of different lines with one id (a session that was gone on with in two places, and merged) each is
an entry. A word in the file means the nearest line above that has this id, which is what reading
backwards finds, too (tail.py); the last of them keeps the id, as in Pi, the others go by names of
their own. The same line once more is no entry (S25).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from agentsh.errors import EntryNotFoundError
from agentsh.session.format.entries import EntryId


class Tree:
    """Grows by `add`, in file order; `settle` once after a whole file was added."""

    def __init__(self) -> None:
        self._ids: list[EntryId] = []
        self._kinds: list[str] = []
        self._numbers: dict[EntryId, int] = {}
        self._parents = array("q")
        """Number of the parent; -1 for a root and for those in `_ahead`."""
        self._ahead: dict[int, EntryId] = {}
        """Entries whose parent was not known when they were added, and the id of it."""
        self._cut: set[int] = set()
        """Entries whose parent is not followed: it would close a circle."""
        self._children: dict[EntryId | None, list[EntryId]] | None = None
        self._labels: dict[EntryId, str] = {}
        self._twins: dict[EntryId, list[tuple[int, int]]] = {}
        """Of an id on different lines: from which entry of the file on it means which."""
        self.name: str | None = None

    # ---- growing -------------------------------------------------------------------------------

    def add(self, entry: EntryId, parent: EntryId | None, kind: str) -> bool:
        """False if the id is taken: the first one stays."""
        numbers = self._numbers
        number = len(numbers)
        above = -1
        if parent is not None:
            above = numbers.get(parent, -1)
        if numbers.setdefault(entry, number) != number:
            return False
        self._ids.append(entry)
        self._kinds.append(kind)
        self._parents.append(above)
        if above < 0 and parent is not None:
            self._ahead[number] = parent
        if self._children is not None:
            self._children.setdefault(self.parent(entry), []).append(entry)
        return True

    def add_twin(self, entry: EntryId, parent: EntryId | None, kind: str, name: EntryId) -> None:
        """A different line with an id that is taken: the one before goes by `name` from here on."""
        self._part(entry, name)
        self.add(entry, parent, kind)
        self._twins[entry].append((self.number(entry), self.number(entry)))

    def mean_again(self, entry: EntryId, twin: EntryId, name: EntryId) -> None:
        """The line of `twin` stands here once more: the id means it again from here on, and the
        one before goes by `name`."""
        self._part(entry, name)
        self._name(twin, entry)
        self._twins[entry].append((len(self._ids), self.number(entry)))

    def _part(self, entry: EntryId, name: EntryId) -> None:
        number = self.number(entry)
        self._twins.setdefault(entry, [(number, number)])
        self._name(entry, name)

    def _name(self, entry: EntryId, name: EntryId) -> None:
        number = self._numbers.pop(entry)
        self._numbers[name] = number
        self._ids[number] = name
        if (label := self._labels.pop(entry, None)) is not None:
            self._labels[name] = label
        self._children = None

    def settle(self) -> tuple[EntryId, ...]:
        """Open circles; the entries whose parent is therefore not followed."""
        done: set[int] = set()
        cut: list[EntryId] = []
        for number in self._ahead:
            chain: dict[int, None] = {}  # in the order of the walk
            ancestor: int | None = number
            while ancestor is not None and ancestor not in done and ancestor not in chain:
                chain[ancestor] = None
                ancestor = self._parent_number(ancestor)
            if ancestor is not None and ancestor in chain:
                walked = list(chain)
                circle = walked[walked.index(ancestor) :]
                first = min(n for n in circle if n in self._ahead)
                self._cut.add(first)
                cut.append(self._ids[first])
            done.update(chain)
        return tuple(cut)

    def set_label(self, target: EntryId, label: str | None) -> None:
        """The latest in the file wins; nothing clears."""
        if label:
            self._labels[target] = label
        else:
            self._labels.pop(target, None)

    @property
    def has_twins(self) -> bool:
        return bool(self._twins)

    def meant(self, word: str, by: EntryId) -> str:
        """The id that a word has at the place of the entry `by`.

        A word that is no id stays as it is.
        """
        places = self._twins.get(EntryId(word))
        if places is None:
            return word
        before = [number for since, number in places if since <= self.number(by)]
        return self._ids[before[-1]] if before else word

    # ---- asking --------------------------------------------------------------------------------

    def __contains__(self, entry: object) -> bool:
        return entry in self._numbers

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[EntryId]:
        """In file order."""
        return iter(self._ids)

    def at(self, number: int) -> EntryId:
        """The entry of that position."""
        return self._ids[number]

    def number(self, entry: EntryId) -> int:
        """Position among the entries of the file."""
        try:
            return self._numbers[entry]
        except KeyError:
            raise EntryNotFoundError(f"no entry {entry}") from None

    def kind(self, entry: EntryId) -> str:
        """The entry's `type`."""
        return self._kinds[self.number(entry)]

    def stated_parent(self, entry: EntryId) -> EntryId | None:
        """The parent that the file names, be it there or not."""
        number = self.number(entry)
        above = self._parents[number]
        return self._ids[above] if above >= 0 else self._ahead.get(number)

    def parent(self, entry: EntryId) -> EntryId | None:
        """The parent that can be walked to."""
        number = self._parent_number(self.number(entry))
        return None if number is None else self._ids[number]

    def children(self, entry: EntryId | None) -> tuple[EntryId, ...]:
        """In file order; of None: the roots."""
        if self._children is None:
            self._children = {}
            for each in self._ids:
                self._children.setdefault(self.parent(each), []).append(each)
        return tuple(self._children.get(entry, ()))

    @property
    def roots(self) -> tuple[EntryId, ...]:
        return self.children(None)

    @property
    def missing(self) -> tuple[EntryId, ...]:
        """Entries whose parent is not in the file."""
        return tuple(
            self._ids[number]
            for number, parent in self._ahead.items()
            if parent not in self._numbers
        )

    def path(self, entry: EntryId | None) -> tuple[EntryId, ...]:
        """From the root to the entry, which is the last one."""
        ids: list[EntryId] = []
        number = None if entry is None else self.number(entry)
        while number is not None:
            ids.append(self._ids[number])
            number = self._parent_number(number)
        ids.reverse()
        return tuple(ids)

    def common_ancestor(self, one: EntryId | None, other: EntryId | None) -> EntryId | None:
        """The deepest entry on both paths; None where they share none."""
        mine = set(self.path(one))
        ancestor = other
        while ancestor is not None and ancestor not in mine:
            ancestor = self.parent(ancestor)
        return ancestor

    @property
    def labels(self) -> dict[EntryId, str]:
        """Target → label, of those in force."""
        return dict(self._labels)

    def label(self, entry: EntryId) -> str | None:
        return self._labels.get(entry)

    def starting_with(self, prefix: str) -> tuple[EntryId, ...]:
        return tuple(each for each in self._ids if each.startswith(prefix))

    def _parent_number(self, number: int) -> int | None:
        above = self._parents[number]
        if above >= 0:
            return above
        if number in self._cut or number not in self._ahead:
            return None
        return self._numbers.get(self._ahead[number])
