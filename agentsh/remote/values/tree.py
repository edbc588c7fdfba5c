"""The tree of a session as a value: every entry in file order. Pure.

As text it is ui/tree/treetext.py's. Read next: views/treeitem.py.
It stands alone: whoever asks for it loads no other value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agentsh.jsontext import JsonObject
from agentsh.session.format.entries import Entry, EntryId
from agentsh.views.treeitem import TreeItem, tree_items


def tree_json(
    session: str,
    file: str,
    leaf: EntryId | None,
    entries: Iterable[Entry],
    labels: Mapping[EntryId, str],
    path: Sequence[EntryId],
) -> JsonObject:
    on_path = frozenset(path)
    items = tree_items(entries, labels, path)
    return {
        "session": session,
        "path": file,
        "leaf": leaf,
        "entries": [item_json(item, item.id in on_path) for item in items],
    }


def item_json(item: TreeItem, on_path: bool) -> JsonObject:
    value: JsonObject = {
        "id": item.id,
        "parentId": item.parent,
        "type": item.type,
        "text": item.text,
        "onPath": on_path,
        "time": item.time,
    }
    if item.role is not None:
        value["role"] = item.role
    if item.label is not None:
        value["label"] = item.label
    if item.edited is not None:
        value[item.edited] = True
    if item.is_aside:
        value["aside"] = True
    if item.is_folded:
        value["folded"] = True
    return value
