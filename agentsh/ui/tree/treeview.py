"""Where one is in the drawn tree: cursor, window, folds, filter, search. State without a terminal.

Work per key is bounded by the screen: a step goes from line to line over folded ranges, and only
changing the filter, or what is put away, lays the tree out anew. A branch that was put away is one
line, but where everything is shown. A search stops at the first hit after the cursor.
Read next: outline.py, navigator.py.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from agentsh.context.hiding import Edited
from agentsh.session.format.entries import EntryId
from agentsh.ui.tree.joining import joined
from agentsh.ui.tree.outline import Filter, Outline, build_outline
from agentsh.views.treeitem import TreeItem, put_away, with_folds

_FILTERS = tuple(Filter)


class Below(Struct, frozen=True):
    """An entry and all that hangs below it, whatever the filter shows."""

    entries: int = 0
    prompts: int = 0
    tokens: int = 0
    cost: float = 0.0


class TreeView:
    """The cursor stands on a line of `outline`; `top` is the first line of the window."""

    def __init__(self, items: Sequence[TreeItem], path: Sequence[EntryId]) -> None:
        self._all = {item.id: item for item in items}
        self._path = tuple(path)
        self._below = sums(items)
        self.filter = Filter.DEFAULT
        self.outline = self._lay_out()
        self._folded: set[int] = set()
        self._hidden: list[tuple[int, int]] = []
        start = self.outline.line_of(self.outline.leaf)
        self.cursor = len(self.outline.items) - 1 if start is None else start
        self.top = 0
        self.found = ""

    @property
    def current(self) -> TreeItem | None:
        return self.outline.items[self.cursor] if self.outline.items else None

    def is_folded(self, line: int) -> bool:
        return line in self._folded

    def below(self, line: int) -> int:
        """How many lines hang below one."""
        return self.outline.ends[line] - line - 1

    def branch(self, entry: EntryId) -> Below:
        """How large and how dear what begins there is."""
        return self._below.get(entry, Below())

    # ---- moving ---------------------------------------------------------------------------------

    def move(self, steps: int) -> None:
        """So many visible lines down (or up, where negative), as far as there are."""
        for _ in range(abs(steps)):
            line = self._next(self.cursor) if steps > 0 else self._previous(self.cursor)
            if line is None:
                return
            self.cursor = line

    def home(self) -> None:
        self.cursor = 0

    def end(self) -> None:
        last = len(self.outline.items) - 1
        self.cursor = max(0, self._visible(last))

    def window(self, rows: int) -> list[int]:
        """The lines to draw, the cursor among them; `top` follows it."""
        if not self.outline.items:
            return []
        self.top = self._visible(min(self.top, len(self.outline.items) - 1))
        if self.cursor < self.top:
            self.top = self.cursor
        lines = self._lines_from(self.top, rows)
        if self.cursor not in lines:
            self.top = self.cursor
            for _ in range(rows - 1):
                up = self._previous(self.top)
                if up is None:
                    break
                self.top = up
            lines = self._lines_from(self.top, rows)
        return lines

    # ---- folding --------------------------------------------------------------------------------

    def fold(self) -> None:
        """Fold what hangs below; on a line without anything to fold, go to its parent."""
        if self.outline.items and self.below(self.cursor) and self.cursor not in self._folded:
            self._folded.add(self.cursor)
            self._refold()
        elif self.outline.items and self.outline.parents[self.cursor] >= 0:
            self.cursor = self.outline.parents[self.cursor]

    def unfold(self) -> None:
        if self.cursor in self._folded:
            self._folded.discard(self.cursor)
            self._refold()

    # ---- filter, search, labels -----------------------------------------------------------------

    def next_filter(self) -> None:
        """The next filter that shows anything; the cursor stays on its entry or the nearest."""
        index = _FILTERS.index(self.filter)
        here = self.current
        self.filter = _FILTERS[(index + 1) % len(_FILTERS)]
        self._rebuild(None if here is None else here.id)

    def search(self, words: str, *, step: int = 0) -> bool:
        """Go to the next hit: from the cursor on, or `step` 1 after it, -1 before it."""
        self.found = words
        sought = words.lower()
        total = len(self.outline.items)
        if not sought or not total:
            return False
        direction = -1 if step < 0 else 1
        for away in range(total):
            line = (self.cursor + step + away * direction) % total
            item = self.outline.items[line]
            if sought in item.whole.lower() or sought in (item.label or "").lower():
                self._reveal(line)
                self.cursor = line
                return True
        return False

    def relabel(self, entry: EntryId, label: str | None) -> None:
        """The label changed: show it."""
        old = self._all[entry]
        new = self._all[entry] = replace(old, label=label)
        line = self.outline.line_of(entry)
        if line is not None and self.filter.shows(new) and not new.is_folded:
            shown = replace(self.outline.items[line], label=label)  # perhaps with its result
            items = (*self.outline.items[:line], shown, *self.outline.items[line + 1 :])
            self.outline = replace(self.outline, items=items)
            self._reveal(line)
            self.cursor = line
        else:  # it comes or goes with its label
            self._rebuild(entry)

    def edited_of(self, entry: EntryId) -> Edited | None:
        return self._all[entry].edited

    def show_edited(self, edited: Mapping[EntryId, Edited]) -> None:
        """These entries, and no others, are hidden or replaced: show it."""
        for item in tuple(self._all.values()):
            if item.edited != edited.get(item.id):
                self._all[item.id] = replace(item, edited=edited.get(item.id))
        self._rebuild_around()  # a result that stood on its call's line may be hidden without it

    def is_put_away(self, entry: EntryId) -> bool:
        return self._all[entry].is_folded

    def show_folded(self, folds: Collection[EntryId]) -> None:
        """Show the tree with just these branches put away."""
        self._all = {i.id: i for i in with_folds(tuple(self._all.values()), folds, self._path)}
        self._rebuild_around()

    def path_to(self, entry: EntryId | None) -> list[TreeItem]:
        """Root → entry, of everything there is. Every walk ends."""
        path: list[TreeItem] = []
        seen: set[EntryId] = set()
        while entry is not None and entry in self._all and entry not in seen:
            seen.add(entry)
            item = self._all[entry]
            path.append(item)
            entry = item.parent
        path.reverse()
        return path

    @property
    def active(self) -> list[TreeItem]:
        """The path to the session's leaf."""
        return [self._all[e] for e in self._path if e in self._all]

    # ---- inside ---------------------------------------------------------------------------------

    def _lay_out(self) -> Outline:
        items: Sequence[TreeItem] = tuple(self._all.values())
        if self.filter is not Filter.ALL:
            items = put_away(items)
        if self.filter is Filter.DEFAULT:
            items = joined(items)
        return build_outline(items, self._path, self.filter.shows)

    def _rebuild(self, entry: EntryId | None) -> None:
        self.outline = self._lay_out()
        self._folded.clear()
        self._hidden.clear()
        lines = {item.id: line for line, item in enumerate(self.outline.items)}
        near = next((i.id for i in reversed(self.path_to(entry)) if i.id in lines), None)
        self.cursor = lines[near] if near is not None else max(0, len(lines) - 1)
        self.top = 0

    def _rebuild_around(self) -> None:
        """The same with folded lines, window and cursor as they were, as far as there is one."""
        here, top = self.current, self.top
        closed = {self.outline.items[line].id for line in self._folded}
        self._rebuild(None if here is None else here.id)
        lines = enumerate(self.outline.items)
        self._folded.update(n for n, item in lines if item.id in closed and self.below(n))
        self._refold()
        self._reveal(self.cursor)
        self.top = top

    def _refold(self) -> None:
        """Outermost folded ranges, in order."""
        self._hidden.clear()
        covered = -1
        for line in sorted(self._folded):
            if line < covered:
                continue
            covered = self.outline.ends[line]
            self._hidden.append((line, covered))

    def _reveal(self, line: int) -> None:
        around = [f for f in self._folded if f < line < self.outline.ends[f]]
        if around:
            self._folded.difference_update(around)
            self._refold()

    def _visible(self, line: int) -> int:
        """The line itself, or the folded one that hides it."""
        index = bisect_right(self._hidden, (line, len(self.outline.items) + 1)) - 1
        if index >= 0:
            start, end = self._hidden[index]
            if start < line < end:
                return start
        return line

    def _next(self, line: int) -> int | None:
        after = self.outline.ends[line] if line in self._folded else line + 1
        return after if after < len(self.outline.items) else None

    def _previous(self, line: int) -> int | None:
        return self._visible(line - 1) if line > 0 else None

    def _lines_from(self, top: int, rows: int) -> list[int]:
        lines: list[int] = []
        line: int | None = top
        while line is not None and len(lines) < rows:
            lines.append(line)
            line = self._next(line)
        return lines


def sums(items: Sequence[TreeItem]) -> dict[EntryId, Below]:
    """What each entry and everything below it come to. One pass from the end of the file.

    Parents stand before their children; what a damaged file has the other way round is left out.
    """
    numbers = {item.id: n for n, item in enumerate(items)}
    entries, prompts = [0] * len(items), [0] * len(items)
    tokens, costs = [0] * len(items), [0.0] * len(items)
    for n in range(len(items) - 1, -1, -1):
        item = items[n]
        entries[n] += not item.is_log
        prompts[n] += item.role == "user"
        tokens[n] += item.tokens
        costs[n] += item.cost
        up = -1 if item.parent is None else numbers.get(item.parent, -1)
        if 0 <= up < n:
            entries[up] += entries[n]
            prompts[up] += prompts[n]
            tokens[up] += tokens[n]
            costs[up] += costs[n]
    return {
        item.id: Below(entries[n], prompts[n], tokens[n], costs[n]) for n, item in enumerate(items)
    }
