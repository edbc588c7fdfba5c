"""Charges by turn, branch, session, project or month. Each is in one group, but for branches.

Branches share what they have in common: a branch's row says what its whole path took and what is
its own. Across sessions a copy belongs to the session that stamped it, as long as that is there,
else to the oldest one that holds it; so no sum of rows counts anything twice.
Read next: costs.py, cli/commands/cost.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from agentsh.errors import SessionError
from agentsh.session.file.scan import index_entries
from agentsh.session.file.tree import Tree
from agentsh.session.format.entries import EntryId
from agentsh.session.format.ids import short_id
from agentsh.session.format.times import local_month
from agentsh.session.search.costs import Charge, Sum, charges_of, total
from agentsh.session.search.searchable import read_saying
from agentsh.session.store.folders import note_unopened
from agentsh.session.store.reader import SessionReader, open_reader
from agentsh.session.store.store import SessionRow
from agentsh.session.store.summary import line_kind

Grouping: TypeAlias = Literal["turn", "branch", "session", "project", "month"]
GROUPINGS: tuple[Grouping, ...] = ("turn", "branch", "session", "project", "month")

_CONVERSATION = frozenset({"message", "compaction", "branch_summary"})


class Group(Struct, frozen=True):
    """One row. `sum` is counted once; `path` (branches) is all from the root, shared or not."""

    name: str
    text: str
    sum: Sum
    path: Sum | None = None


class SessionCost(Struct, frozen=True):
    """One file. `inherited`: what other sessions spent on entries that were copied from them."""

    session: str
    path: Path
    own: Sum
    inherited: Sum


class Costs:
    """The charges of one file, with the tree that they hang on."""

    def __init__(self, source: SessionReader) -> None:
        self.session = source.opening.header.id
        self.charges = tuple(charges_of(line.data for line in source.lines()))
        self._source = source

    def split(self) -> tuple[Sum, Sum]:
        """(own, inherited)"""
        copies = [c for c in self.charges if c.is_copy(self.session)]
        own = [c for c in self.charges if not c.is_copy(self.session)]
        return total(own), total(copies)

    def by_month(self) -> list[Group]:
        return _grouped(self.charges, lambda charge: local_month(charge.time) or "(no time)")

    def by_turn(self) -> list[Group]:
        """A turn is a prompt and all that hangs below it, up to the next prompt."""
        prompts, turn_of = self._turns()
        groups = _grouped(self.charges, lambda charge: turn_of.get(charge.entry, ""))
        return [
            Group(g.name or "(before)", prompts.get(g.name, "(before the first prompt)"), g.sum)
            for g in groups
        ]

    def _turns(self) -> tuple[dict[str, str], dict[str, str]]:
        """(prompt → its text, entry → the prompt above it)"""
        index = index_entries(self._source.read, self._source.opening, self._source.size)
        prompts: dict[str, str] = {}
        turn_of: dict[str, str] = {}
        for entry in index.tree:
            line = self._source.read(*index.place(entry))
            if index.tree.kind(entry) == "message" and line_kind(line).role == "user":
                saying = read_saying(line)
                prompts[entry] = "" if saying is None else saying.text
                turn_of[entry] = entry
            else:
                turn_of[entry] = turn_of.get(index.tree.parent(entry) or "", "")
        return prompts, turn_of

    def by_branch(self) -> list[Group]:
        """Each end of the tree where something was said, the last one first."""
        index = index_entries(self._source.read, self._source.opening, self._source.size)
        tree = index.tree
        by_entry = {charge.entry: charge for charge in self.charges}
        counted: set[EntryId] = set()
        groups = []
        for tip in _tips(tree):
            path = [by_entry[e] for e in tree.path(tip) if e in by_entry]
            fresh = [charge for charge in path if charge.entry not in counted]
            counted.update(charge.entry for charge in fresh)
            saying = read_saying(self._source.read(*index.place(tip)))
            text = "" if saying is None else saying.text
            groups.append(Group(tip, text, total(fresh), total(path)))
        return groups


def _tips(tree: Tree) -> list[EntryId]:
    """Conversation entries with no conversation below them, the newest first."""
    above: set[EntryId] = set()
    tips = []
    for entry in reversed(tuple(tree)):
        ancestor: EntryId | None = entry
        while ancestor is not None and tree.kind(ancestor) not in _CONVERSATION:
            ancestor = tree.parent(ancestor)
        if ancestor is None or ancestor in above:
            continue
        tips.append(ancestor)
        while ancestor is not None and ancestor not in above:
            above.add(ancestor)
            ancestor = tree.parent(ancestor)
    return tips


def costs_of(path: Path, ask: Callable[[Costs], list[Group]]) -> list[Group]:
    """Open a file and group what is in it. Raises SessionNotFoundError."""
    with open_reader(path) as source:
        return ask(Costs(source))


def cost_of_session(path: Path) -> SessionCost:
    """Raises SessionNotFoundError."""
    with open_reader(path) as source:
        costs = Costs(source)
        return SessionCost(costs.session, path, *costs.split())


def across(
    rows: Sequence[SessionRow],
    by: Grouping,
    every_row: Iterable[SessionRow] | None = None,
    unread: dict[str, str] | None = None,
) -> list[Group]:
    """Groups over many sessions; `every_row` are all there are, where `rows` are but some of them.

    `unread` is given those that could not be read: path → the system's words.
    """
    stamps = {short_id(row.id) for row in (rows if every_row is None else every_row)}
    seen: set[tuple[str, str]] = set()
    charged: list[tuple[SessionRow, Charge]] = []
    for row in sorted(rows, key=lambda r: (r.created, r.id)):
        try:
            with open_reader(row.path) as source:
                charges = Costs(source).charges
        except (OSError, SessionError) as e:
            note_unopened({} if unread is None else unread, row.path, e)
            continue
        for charge in charges:
            elsewhere = charge.is_copy(row.id) and charge.origin in stamps
            if not elsewhere and charge.key not in seen:
                seen.add(charge.key)
                charged.append((row, charge))
    sums: dict[tuple[str, str], Sum] = {}
    for row, charge in charged:
        name = _name(row, charge, by)
        sums[name] = sums.get(name, Sum()).plus(charge.usage)
    groups = [Group(name, text, sum_) for (name, text), sum_ in sums.items()]
    if by == "month":
        return sorted(groups, key=lambda group: group.name, reverse=True)
    return sorted(groups, key=lambda g: (g.sum.usage.cost.total, g.sum.usage.output), reverse=True)


def _name(row: SessionRow, charge: Charge, by: Grouping) -> tuple[str, str]:
    match by:
        case "month":
            return local_month(charge.time) or "(no time)", ""
        case "project":
            return row.cwd, ""
        case _:
            return row.id, row.name or row.prompt or ""


def _grouped(charges: Iterable[Charge], name: Callable[[Charge], str]) -> list[Group]:
    sums: dict[str, Sum] = {}
    for charge in charges:
        key = name(charge)
        sums[key] = sums.get(key, Sum()).plus(charge.usage)
    return [Group(key, "", sum_) for key, sum_ in sums.items()]
