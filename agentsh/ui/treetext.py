"""`tree --json` and `tree --plain`: the tree of a session as a value and as text.

JSON has every entry in file order; text one line an entry that was said (or labelled), the active
path and the leaf marked. Linear in the entries, no recursion. Read next: outline.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from agentsh.jsontext import JsonObject
from agentsh.session.entries import Entry, EntryId
from agentsh.ui.outline import Filter, Outline, build_outline
from agentsh.ui.sanitize import safe_line
from agentsh.ui.treeitem import TreeItem, tree_items

MAX_DEPTH = 20


def tree_json(
    session: str,
    file: str,
    leaf: EntryId | None,
    entries: Iterable[Entry],
    labels: Mapping[EntryId, str],
    path: Sequence[EntryId],
) -> JsonObject:
    on_path = frozenset(path)
    items = tree_items(entries, labels)
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
    return value


def tree_text(
    entries: Iterable[Entry],
    labels: Mapping[EntryId, str],
    path: Sequence[EntryId],
    *,
    unicode: bool = True,
    width: int | None = None,
    shows: Filter = Filter.DEFAULT,
) -> Iterator[str]:
    """Lines without their ends. `width` None: uncut."""
    outline = build_outline(tree_items(entries, labels), path, shows.shows)
    for line in range(len(outline.items)):
        text = line_text(outline, line, unicode=unicode)
        yield text if width is None or len(text) <= width else text[: width - 1] + "…"


def line_text(outline: Outline, line: int, *, unicode: bool, with_id: bool = True) -> str:
    """One line: branch, mark, id, who, label, text, leaf."""
    item = outline.items[line]
    active = item.id in outline.path
    marks = ("●" if active else "○") if unicode else ("*" if active else "o")
    parts = [prefix(outline, line, unicode=unicode) + marks]
    if with_id:
        parts.append(safe_line(item.id))
    parts.append(f"{who(item)}:")
    if item.label is not None:
        parts.append(f"[{item.label}]")
    parts.append(item.text)
    if item.id == outline.leaf:
        parts.append("← leaf" if unicode else "<- leaf")
    return " ".join(part for part in parts if part)


def prefix(outline: Outline, line: int, *, unicode: bool) -> str:
    """The guides of the branches that the line stands in."""
    depth = outline.depths[line]
    bar, tee = ("│ ", "├─") if unicode else ("| ", "|-")
    if depth > MAX_DEPTH:
        return bar * (MAX_DEPTH - 1) + ("…>" if unicode else ">>")
    if depth == 0:
        return ""
    return bar * (depth - 1) + (tee if outline.opens[line] else bar)


def who(item: TreeItem) -> str:
    """Who says it, in one word."""
    names = {
        "user": "you",
        "assistant": "agent",
        "toolResult": "result",
        "bashExecution": "shell",
        "branch_summary": "summary",
    }
    key = item.role or item.type
    return names.get(key, key)
