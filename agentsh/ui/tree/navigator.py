"""The tree navigator: the whole tree on the screen, and a choice where to go. Writes nothing.

What is shown and done, without a terminal; a label, what is hidden and what is put away are set on
the way, through callbacks. Keys are the contract's; a table of them makes the help (navtext.py).
Read next: navkeys.py, treeview.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from prompt_toolkit.formatted_text import StyleAndTextTuples

from agentsh.context.hiding import Edited
from agentsh.errors import AgentshError
from agentsh.sanitize import safe_line, safe_text
from agentsh.session.format.entries import EntryId
from agentsh.session.format.times import local_minute
from agentsh.ui.cells import cut, fitting, hang_of, without_last
from agentsh.ui.paper.pages import Lay, PageLine, plain_page_lines
from agentsh.ui.paper.rows import Styled, rows, toolkit_spans
from agentsh.ui.tree.navtext import (
    BRINGING,
    FOOTERS,
    branch_words,
    facts_line,
    help_lines,
    path_difference,
    summing_ways,
)
from agentsh.ui.tree.treetext import look_of, prefix, who
from agentsh.ui.tree.treeview import TreeView
from agentsh.views.explored import EXPLORED

Mode: TypeAlias = Literal["move", "search", "label", "page", "bring", "sum"]
PREVIEW_ROWS = 4


class Left(Struct, frozen=True):
    """No move."""


class Went(Struct, frozen=True):
    target: EntryId
    summarize: bool = False
    files: bool = False


class Forked(Struct, frozen=True):
    target: EntryId


class Summed(Struct, frozen=True):
    """A compaction: a summary for what stands before the target."""

    target: EntryId


class Picked(Struct, frozen=True):
    """What the target says is brought to the leaf, or a summary of the branch that ends there."""

    target: EntryId
    summarize: bool = False
    files: bool = False


class Explored(Struct, frozen=True):
    """A branch of an exploration is brought here; `name` is EXPLORATION.N."""

    name: str


NavigatorChoice: TypeAlias = Left | Went | Forked | Summed | Picked | Explored
Toggle: TypeAlias = Callable[[EntryId], Mapping[EntryId, Edited]]
"""Hides an entry from the model or shows it again, and gives what is hidden then."""
FoldToggle: TypeAlias = Callable[[EntryId], Collection[EntryId]]
"""Puts a branch away or shows it again, and gives where folded branches begin then."""


class EntryDeeds(Struct, frozen=True):
    """What can be done with the entry under the cursor; None: not here."""

    label: Callable[[EntryId, str | None], None] | None = None
    copy: Callable[[str], str] | None = None
    """Puts a text into the clipboard, and gives what to say of it."""
    files: Callable[[EntryId], Sequence[PageLine]] | None = None
    """What differs in the files from here to there."""
    toggle: Toggle | None = None
    fold: FoldToggle | None = None


class Navigator:
    """What the navigator shows and does, without a terminal."""

    def __init__(
        self,
        view: TreeView,
        deeds: EntryDeeds = EntryDeeds(),  # noqa: B008  # frozen
        *,
        unicode: bool = True,
        lay: Lay = plain_page_lines,
        only_looks: str | None = None,
    ) -> None:
        self.view = view
        self.only_looks = only_looks
        """Why nothing is changed and nowhere gone to now, in words."""
        self.mode: Mode = "move"
        self.typed = ""
        self.message = ""
        self._make_page: Callable[[int], Sequence[PageLine]] = lambda _: ()
        self._lay = lay
        self._page_top = 0
        self._page_rows: list[list[Styled]] = []
        self._page_width = 0
        self._deeds = deeds
        self.rows, self._columns = 20, 80
        self.shows_times = False
        self._unicode = unicode

    # ---- what keys do ---------------------------------------------------------------------------

    def type(self, text: str) -> None:
        """Text for the search or the label."""
        self.typed += safe_line(text) if len(text) > 1 else text
        if self.mode == "search":
            self._look()

    def rub_out(self) -> None:
        self.typed = without_last(self.typed)
        if self.mode == "search":
            self._look()

    def begin(self, mode: Mode) -> None:
        current = self.view.current
        self.mode, self.message = mode, ""
        self.typed = (current.label or "") if mode == "label" and current is not None else ""

    def accept(self) -> None:
        """Enter, where it ends a search or a label."""
        if self.mode == "label":
            self._name_current()
        self.mode = "move"

    def cancel(self) -> None:
        self.mode, self.message = "move", ""

    def again(self, step: int) -> None:
        if self.view.found and not self.view.search(self.view.found, step=step):
            self.message = "no hit"

    def choice(self, *, summarize: bool = False, files: bool = False) -> NavigatorChoice:
        """Where Enter, s or w go. It is nowhere if one is there already."""
        current = self.view.current
        if current is None:
            return Left()
        stays = current.id == self.view.outline.leaf and current.role != "user"
        if stays and not files:
            return Left()
        return Went(current.id, summarize=summarize, files=files)

    @property
    def is_on_explored(self) -> bool:
        """The cursor is on a branch of an exploration, which is no entry of this session."""
        return self.view.current is not None and self.view.current.type == EXPLORED

    def refuse(self) -> None:
        """What a key would do has to wait, or is not done there."""
        words = "p brings this branch here; it is no entry of this session"
        self.message = self.only_looks or (words if self.is_on_explored else "")

    def no_explored(self) -> None:
        self.message = self.only_looks or "p is for a branch of an exploration"

    def bring_explored(self) -> NavigatorChoice:
        current = self.view.current
        return Left() if current is None else Explored(current.id)

    def leave(self) -> NavigatorChoice:
        return Left()

    def fork(self) -> NavigatorChoice:
        current = self.view.current
        return Left() if current is None else Forked(current.id)

    def ask_compact(self) -> None:
        """A request is made, so it is asked about: what it stands for, and what it takes."""
        if self._summed():
            self.begin("sum")
        else:
            self.message = "c is for an entry of your path (●), with something before it"

    def compact(self) -> NavigatorChoice:
        current = self.view.current
        return Left() if current is None else Summed(current.id)

    def pick(self, *, summarize: bool = False, files: bool = False) -> NavigatorChoice:
        current = self.view.current
        return Left() if current is None else Picked(current.id, summarize, files)

    def toggle_folded(self) -> None:
        current = self.view.current
        if current is None or self._deeds.fold is None:
            return
        try:
            self.view.show_folded(self._deeds.fold(current.id))
        except AgentshError as e:
            self.message = safe_line(str(e))
            return
        is_folded = self.view.is_put_away(current.id)
        self.message = "folded; the filter `all` has it" if is_folded else "unfolded"

    def toggle_hidden(self) -> None:
        current = self.view.current
        if current is None or self._deeds.toggle is None:
            return
        try:
            self.view.show_edited(self._deeds.toggle(current.id))
        except AgentshError as e:
            self.message = safe_line(str(e))
            return
        edited = self.view.edited_of(current.id)
        self.message = "the model is sent it again" if edited is None else "hidden from the model"

    def copy(self) -> None:
        current = self.view.current
        if current is not None and self._deeds.copy is not None:
            self.message = self._deeds.copy(current.whole)

    def toggle_times(self) -> None:
        self.shows_times = not self.shows_times

    def show_help(self) -> None:
        self._show_page(lambda width: [PageLine(line) for line in help_lines(width)])

    def show_difference(self) -> None:
        current = self.view.current
        if current is None:
            return
        lines = path_difference(self.view.active, self.view.path_to(current.id))
        if self._deeds.files is not None:
            try:
                lines += self._deeds.files(current.id)
            except AgentshError as e:
                lines.append(PageLine(f"files: {safe_line(str(e))}", "warn"))
        self._show_page(lambda _: lines)

    def show_whole(self) -> None:
        current = self.view.current
        if current is not None:
            lines = safe_text(current.whole).split("\n")
            facts = facts_line(current, self.view.branch(current.id))
            page = [PageLine(line, hang=hang_of(line)) for line in ("", *lines)]
            self._show_page(lambda _: [PageLine(facts, "quiet"), *page])

    def scroll_page(self, rows: int) -> None:
        last = max(0, len(self._wrapped_page()) - self.rows)
        self._page_top = max(0, min(last, self._page_top + rows))

    # ---- drawing --------------------------------------------------------------------------------

    def draw(self, columns: int, rows: int) -> StyleAndTextTuples:
        """The screen from the title down to the line for keys or typing."""
        self._columns = columns
        preview = max(PREVIEW_ROWS, rows // 5)
        self.rows = max(1, rows - preview - 3)
        if self.mode == "page":
            self.rows = max(1, rows - 2)
            return self._draw_page(columns)
        out: StyleAndTextTuples = [("class:tree.bar", self._title(columns)), ("", "\n")]
        lines = self.view.window(self.rows)
        for line in lines:
            self._draw_line(out, line, columns)
        out.append(("", "\n" * (self.rows - len(lines))))
        out.append(("", ("─" if self._unicode else "-") * (columns - 1) + "\n"))
        self._draw_preview(out, columns, preview)
        out.append(("class:tree.bar", self._footer(columns)))
        return out

    def _draw_line(self, out: StyleAndTextTuples, line: int, columns: int) -> None:
        view, outline = self.view, self.view.outline
        item = outline.items[line]
        active = item.id in outline.path
        cursor = "class:tree.cursor" if line == view.cursor else ""
        style = cursor or ("" if active else "class:quiet")
        marks = ("●" if active else "○") if self._unicode else ("*" if active else "o")
        out.append((cursor or "class:quiet", prefix(outline, line, unicode=self._unicode)))
        out.append((cursor or ("class:tree.path" if active else "class:quiet"), f"{marks} "))
        if self.shows_times:
            out.append((cursor or "class:quiet", f"{local_minute(item.time)[5:]:<11}  "))
        if item.label is not None:
            out.append((cursor or "class:tree.label", f"[{item.label}] "))
        if item.edited is not None:
            out.append((cursor or "class:quiet", f"({item.edited}) "))
        hit = bool(view.found) and view.found.lower() in item.whole.lower()
        struck = "" if item.edited is None else " strike"
        said = cursor or ("class:tree.hit" if hit else style)
        out.append(((cursor or look_of(item)) + struck, f"{who(item)}: "))
        out.append(((said + struck).lstrip(), item.text[: columns * 2]))
        if view.is_folded(line):
            out.append((style, f"  (+{view.below(line)})"))
        if outline.opens[line] or view.is_folded(line):
            out.append((cursor or "class:quiet", f"  {branch_words(view.branch(item.id))}"))
        if item.id == outline.leaf:
            out.append((cursor or "class:tree.path", "  ← leaf" if self._unicode else "  <- leaf"))
        out.append(("", "\n"))

    def _draw_page(self, columns: int) -> StyleAndTextTuples:
        out: StyleAndTextTuples = []
        rows = self._wrapped_page()
        self._page_top = max(0, min(self._page_top, len(rows) - self.rows))
        shown = rows[self._page_top : self._page_top + self.rows]
        for row in shown:
            out += (*toolkit_spans(row), ("", "\n"))
        out.append(("", "\n" * (self.rows - len(shown) + 1)))
        left = len(rows) - self._page_top - len(shown)
        back = "any other key goes back"
        ways = [f"{left} more lines (Down, PgDn) · {back}", f"Down: {left} more · {back}"]
        out.append(("class:tree.bar", fitting(ways if left > 0 else [back], columns - 1)))
        return out

    def _wrapped_page(self) -> list[list[Styled]]:
        """The page's rows in this width, with their styles; made once for each."""
        if self._page_width != self._columns:
            width = self._columns - 1
            self._page_rows = [
                row
                for spans, hang in self._lay(self._make_page(width))
                for row in rows(spans, width, hang)
            ]
            self._page_width = self._columns
        return self._page_rows

    def _title(self, columns: int) -> str:
        total, which = len(self.view.outline.items), self.view.filter.value
        ways = [
            f"tree: {total} entries, filter {which} (Tab), ? keys",
            f"{total} entries, {which} (Tab), ? keys",
            "? keys",
        ]
        return fitting(ways, columns - 1).ljust(columns - 1)

    def _draw_preview(self, out: StyleAndTextTuples, columns: int, rows: int) -> None:
        """The entry under the cursor: its kind, its branch, its first lines."""
        current = self.view.current
        if current is None:
            out.append(("", "\n" * rows))
            return
        facts = facts_line(current, self.view.branch(current.id))
        out.append(("class:quiet", cut(facts, columns - 1) + "\n"))
        lines = [line for line in safe_text(current.whole).split("\n") if line.strip()]
        lines = [line.expandtabs(4) for line in lines[: rows - 1]]
        lines += [""] * (rows - 1 - len(lines))
        out.append(("", "".join(cut(line, columns - 1) + "\n" for line in lines)))

    def _footer(self, columns: int) -> str:
        match self.mode:
            case "search":
                text = f"/{self.typed}  {self.message}"
            case "label":
                text = f"label: {self.typed}"
            case "bring":
                return fitting(BRINGING, columns - 1)
            case "sum":
                return fitting(summing_ways(self._summed()), columns - 1)
            case _:
                return fitting([self.message] if self.message else FOOTERS, columns - 1)
        return text[: columns - 1]

    # ---- inside ---------------------------------------------------------------------------------

    def _summed(self) -> int:
        """Entries of the path that stand before the one under the cursor."""
        current, path = self.view.current, [item for item in self.view.active if not item.is_log]
        before = (n for n, item in enumerate(path) if current and item.id == current.id)
        return next(before, 0)

    def _look(self) -> None:
        is_hit = self.view.search(self.typed)
        self.message = "" if is_hit or not self.typed else "(no hit)"

    def _name_current(self) -> None:
        current = self.view.current
        if current is None or self._deeds.label is None:
            return
        name = self.typed.strip() or None
        try:
            self._deeds.label(current.id, name)
        except AgentshError as e:
            self.message = safe_line(str(e))
            return
        self.view.relabel(current.id, None if name is None else safe_line(name, 60))

    def _show_page(self, lines: Callable[[int], Sequence[PageLine]]) -> None:
        """`lines`: made for a width; what is longer yet is wrapped."""
        self._make_page, self._page_top, self._page_width = lines, 0, 0
        self.mode = "page"
