"""`tree --plain`: the tree of a session as text.

One line an entry that was said (or labelled), the active path and the leaf marked. Linear in the
entries, no recursion. For programs it is remote/values/tree.py. Read next: outline.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from agentsh.sanitize import safe_line
from agentsh.session.format.entries import Entry, EntryId
from agentsh.ui.tree.outline import Filter, Outline, build_outline
from agentsh.views.explored import EXPLORED
from agentsh.views.treeitem import TreeItem, put_away, tree_items

MAX_DEPTH = 20


def tree_text(
    entries: Iterable[Entry],
    labels: Mapping[EntryId, str],
    path: Sequence[EntryId],
    *,
    unicode: bool = True,
    width: int | None = None,
    shows: Filter = Filter.DEFAULT,
    unfolds: bool = False,
    beside: Mapping[EntryId | None, Sequence[str]] = MappingProxyType({}),
    folder: str = "",
) -> Iterator[str]:
    """Lines without their ends. `width` None: uncut. `unfolds`: with what was put away.

    `beside`: what stands below an entry and is no entry: branches of explorations. `folder`: the
    session's; paths below it are short.
    """
    items = tree_items(entries, labels, path, folder)
    outline = build_outline(items if unfolds else put_away(items), path, shows.shows)
    stands = _standing(beside, items, outline)
    for line in range(len(outline.items)):
        text = line_text(outline, line, unicode=unicode)
        guide = prefix(outline, line, unicode=unicode)
        below = stands.get(outline.items[line].id, ())
        for each in (text, *(f"{guide}  {words}" for words in below)):
            yield each if width is None or len(each) <= width else each[: width - 1] + "…"


def _standing(
    beside: Mapping[EntryId | None, Sequence[str]], items: Sequence[TreeItem], outline: Outline
) -> Mapping[EntryId | None, Sequence[str]]:
    """The same, below the nearest entry above that is shown."""
    if not beside:
        return beside
    parents = {item.id: item.parent for item in items}
    shown = {item.id for item in outline.items}
    stands: dict[EntryId | None, list[str]] = {}
    for entry, lines in beside.items():
        above = entry
        while above is not None and above not in shown:
            above = parents.get(above)
        stands.setdefault(above, []).extend(lines)
    return stands


def line_text(outline: Outline, line: int, *, unicode: bool, with_id: bool = True) -> str:
    """The text of one line of the tree."""
    item = outline.items[line]
    active = item.id in outline.path
    marks = ("●" if active else "○") if unicode else ("*" if active else "o")
    parts = [prefix(outline, line, unicode=unicode) + marks]
    if with_id:
        parts.append(safe_line(item.id))
    parts.append(f"{who(item)}:")
    if item.label is not None:
        parts.append(f"[{item.label}]")
    parts.append(item.text if item.edited is None else f"({item.edited}) ~~{item.text}~~")
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
        "custom_message": "message",
        EXPLORED: "branch",
    }
    key = item.role or item.type
    aside = "aside, " if item.is_aside else ""
    return aside + (
        names.get(key) or safe_line(key, 40)
    )  # a role that nobody knows is foreign text


def look_of(item: TreeItem) -> str:
    """The class of prompt_toolkit for who says it: prompts stand out, what is of tools does not."""
    looks = {
        "user": "user",
        "assistant": "code",
        "bashExecution": "warn",
        "branch_summary": "ok",
        "compaction": "ok",
    }
    if item.only_calls:
        return "class:tool"
    return f"class:{looks.get(item.role or item.type, 'quiet')}"
