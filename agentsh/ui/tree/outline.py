"""A session's tree as lines: which entries are shown, in what order, how far in. Pure and linear.

The path to the leaf keeps the left edge; elsewhere the child with most below it does, so that no
line stands further in than the logarithm of the tree's size (plus one), however it was branched.
Side branches stand before the child that goes on; a side question never goes on by itself:

    ● where does it go
    ├─○ take the heron road
    │ ○ heron seen
    ● take the badger road        ← leaf

What a filter hides passes its children up to the nearest shown ancestor. No recursion anywhere: a
branch may be 50,000 entries long. Read next: views/treeitem.py, treetext.py, navigator.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from agentsh.session.format.entries import EntryId
from agentsh.views.explored import EXPLORED
from agentsh.views.treeitem import TreeItem

_ASIDE = 2
"""Entries of a side question: it and its answer."""


class Filter(StrEnum):
    """What the tree shows; Tab goes through them in this order."""

    DEFAULT = "default"
    NO_TOOLS = "no tools"
    PROMPTS = "prompts"
    LABELLED = "labelled"
    ALL = "all"

    def shows(self, item: TreeItem) -> bool:
        match self:
            case Filter.ALL:
                return True
            case Filter.LABELLED:
                return item.label is not None
            case Filter.PROMPTS:
                return item.role == "user"
            case Filter.NO_TOOLS:
                return not item.is_log and item.role != "toolResult" and not item.only_calls
            case Filter.DEFAULT:
                return item.label is not None or not item.is_log


class Outline(Struct, frozen=True):
    """Lines in order: `items[i]` stands `depths[i]` in, all below it ends before `ends[i]`."""

    items: tuple[TreeItem, ...]
    depths: tuple[int, ...]
    opens: tuple[bool, ...]
    """The line is the first of a side branch."""
    ends: tuple[int, ...]
    parents: tuple[int, ...]
    """Line of the nearest shown ancestor, -1 at the top."""
    path: frozenset[EntryId]
    leaf: EntryId | None
    """The nearest shown entry to the session's leaf."""

    def line_of(self, entry: EntryId | None) -> int | None:
        return next((n for n, item in enumerate(self.items) if item.id == entry), None)


def build_outline(
    items: Sequence[TreeItem],
    path: Sequence[EntryId],
    shows: Callable[[TreeItem], bool] = Filter.DEFAULT.shows,
) -> Outline:
    """Lay out what a filter shows. One pass up, one pass down."""
    numbers = {item.id: n for n, item in enumerate(items)}
    above = _shown_parents(items, numbers, shows)
    shown = [n for n, item in enumerate(items) if shows(item)]
    children: dict[int, list[int]] = {}
    for n in shown:
        children.setdefault(above[n], []).append(n)
    on_path = frozenset(path)
    sizes = _sizes(children)
    order, depths, opens, parents = _walk(items, children, sizes, on_path)
    ends = [line + sizes[n] for line, n in enumerate(order)]
    leaf = next((e for e in reversed(path) if e in numbers and shows(items[numbers[e]])), None)
    return Outline(
        tuple(items[n] for n in order),
        tuple(depths),
        tuple(opens),
        tuple(ends),
        tuple(parents),
        on_path,
        leaf,
    )


def _shown_parents(
    items: Sequence[TreeItem],
    numbers: Mapping[EntryId, int],
    shows: Callable[[TreeItem], bool],
) -> list[int]:
    """For each item the nearest shown ancestor, -1 for none. Guards against circles."""
    unknown, pending = -2, -3
    parents = [unknown] * len(items)
    for start in range(len(items)):
        chain: list[int] = []
        n = start
        while parents[n] == unknown:
            parents[n] = pending
            chain.append(n)
            parent = items[n].parent
            up = -1 if parent is None else numbers.get(parent, -1)
            if up < 0 or parents[up] == pending:
                parents[n] = -1
                break
            if shows(items[up]):
                parents[n] = up
            n = up
        for n in reversed(chain):
            if parents[n] == pending:
                parent = items[n].parent
                parents[n] = parents[numbers[parent]] if parent is not None else -1
    return parents


def _sizes(children: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """How many lines each shown item takes with all below it."""
    order: list[int] = []
    stack = list(children.get(-1, ()))
    while stack:
        n = stack.pop()
        order.append(n)
        stack += children.get(n, ())
    sizes: dict[int, int] = {}
    for n in reversed(order):
        sizes[n] = 1 + sum(sizes[c] for c in children.get(n, ()))
    return sizes


def _walk(
    items: Sequence[TreeItem],
    children: Mapping[int, Sequence[int]],
    sizes: Mapping[int, int],
    on_path: frozenset[EntryId],
) -> tuple[list[int], list[int], list[bool], list[int]]:
    """Depth first; the child that goes on comes last and keeps its parent's column."""
    order: list[int] = []
    depths: list[int] = []
    opens: list[bool] = []
    parents: list[int] = []
    stack: list[tuple[int, int, bool, int]] = []

    def push(below: Sequence[int], depth: int, parent: int) -> None:
        going = [n for n in below if items[n].id in on_path or not is_beside(n, parent)]
        goes_on = max(going, key=lambda n: (items[n].id in on_path, sizes[n], n), default=-1)
        if going:
            stack.append((goes_on, depth, False, parent))
        stack.extend((n, depth + 1, True, parent) for n in reversed(below) if n != goes_on)

    def is_beside(n: int, parent: int) -> bool:
        """A side question from which nobody went on, or a branch of an exploration."""
        if items[n].type == EXPLORED:
            return True
        begins = parent < 0 or not items[order[parent]].is_aside
        return items[n].is_aside and begins and sizes[n] <= _ASIDE

    push(children.get(-1, ()), 0, -1)
    while stack:
        n, depth, first, parent = stack.pop()
        line = len(order)
        order.append(n)
        depths.append(depth)
        opens.append(first)
        parents.append(parent)
        push(children.get(n, ()), depth, line)
    return order, depths, opens, parents
