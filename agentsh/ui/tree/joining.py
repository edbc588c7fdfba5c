"""A call and its result as one line of the tree, where nothing stands between them. Pure.

The line is the call's: going there, hiding it and naming it mean both. It stands alone because only
what is drawn is joined; text and JSON have each entry by itself. Read next: treeview.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from agentsh.session.format.entries import EntryId
from agentsh.views.treeitem import TreeItem

_BETWEEN = " · "


def joined(items: Sequence[TreeItem]) -> list[TreeItem]:
    """Without the results that their call's line tells of.

    An answer that calls one tool and says nothing else takes the one result below it, unless that
    has a name, or the two are not hidden or put away together.
    """
    said = {item.id: item for item in items if not item.is_log}
    parents = _said_parents(items, said)
    children: dict[EntryId, int] = {}
    for parent in parents.values():
        children[parent] = children.get(parent, 0) + 1
    results: dict[EntryId, TreeItem] = {}
    for result, parent in parents.items():
        if children[parent] == 1 and _belong(said[parent], said[result]):
            results[parent] = said[result]
    calls = {result.id: call for call, result in results.items()}
    shown: list[TreeItem] = []
    for item in items:
        if item.id in calls:
            continue
        if item.id in results:
            item = _with_result(item, results[item.id])
        if item.parent in calls:
            item = replace(item, parent=calls[item.parent])
        shown.append(item)
    return shown


def _said_parents(
    items: Sequence[TreeItem], said: dict[EntryId, TreeItem]
) -> dict[EntryId, EntryId]:
    """What was said → what was said before it on its path; parents stand before their children."""
    nearest: dict[EntryId, EntryId] = {}
    """Of each entry the last one above it that was said."""
    parents: dict[EntryId, EntryId] = {}
    for item in items:
        parent = item.parent
        above = parent if parent in said else nearest.get(parent) if parent is not None else None
        if above is None or above == item.id:
            continue
        nearest[item.id] = above
        if item.id in said:
            parents[item.id] = above
    return parents


def _belong(call: TreeItem, result: TreeItem) -> bool:
    return (
        call.only_calls
        and call.calls == 1
        and result.role == "toolResult"
        and result.label is None
        and call.edited == result.edited
        and call.is_folded == result.is_folded
    )


def _with_result(call: TreeItem, result: TreeItem) -> TreeItem:
    whole = f"{call.whole}\n{result.whole}"
    return replace(call, text=f"{call.text}{_BETWEEN}{result.outcome}", whole=whole)
