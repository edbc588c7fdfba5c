"""A branch of an exploration as a list or a tree shows it. Pure; it is made by whoever looks.

It stands alone since no entry of a session is behind it. Read next: treeitem.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from agentsh.session.format.entries import EntryId
from agentsh.views.treeitem import TreeItem

EXPLORED = "explored"
"""The type of a tree's item that stands for one."""


class ExploredBranch(Struct, frozen=True):
    """`name`: EXPLORATION.N. `text` is safe to show. `entry`: where it began in its trunk."""

    name: str
    text: str
    entry: EntryId | None = None
    is_here: bool = False
    """Its trunk is the session in front."""


def with_explored(items: Sequence[TreeItem], branches: Iterable[ExploredBranch]) -> list[TreeItem]:
    """The items of a tree, and below them the branches that began at them, of the same time."""
    times = {item.id: item.time for item in items}
    first = items[0].time if items else ""
    explored = (
        TreeItem(
            EntryId(each.name),
            each.entry if each.entry in times else None,
            EXPLORED,
            None,
            each.text,
            first if each.entry is None else times.get(each.entry, first),
            whole=each.text,
        )
        for each in branches
        if each.is_here
    )
    return [*items, *explored]
