"""The tree navigator: the whole tree on the screen, and a choice where to go. Writes nothing.

`navigate` gives what the person decided; only a label is set on the way, through the callback.
Keys are the contract's; a table of them makes the help. Read next: treeview.py, outline.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import wrap
from typing import TypeAlias

from msgspec import Struct
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.output import Output

from agentsh.errors import AgentshError
from agentsh.session.entries import EntryId
from agentsh.ui.cells import cut, fitting, wrapped
from agentsh.ui.face import SessionFace
from agentsh.ui.fullscreen import fullscreen
from agentsh.ui.navkeys import Mode, navigator_keys
from agentsh.ui.sanitize import safe_line, safe_text
from agentsh.ui.status import short_number
from agentsh.ui.terminal import Terminal
from agentsh.ui.theme import Theme
from agentsh.ui.treeitem import TreeItem, tree_items
from agentsh.ui.treetext import prefix, who
from agentsh.ui.treeview import Below, TreeView

PREVIEW_ROWS = 4
DIFF_SHOWN = 200

KEYS: tuple[tuple[str, str], ...] = (
    ("Up Down PgUp PgDn Home End", "move"),
    ("Left, Right", "fold, unfold"),
    ("/ n N", "search, next hit, previous hit"),
    ("Tab", "next filter: default, no tools, prompts, labelled, all"),
    ("Enter", "go there; to a prompt: before it, its text in the editor"),
    ("s", "go there, with a summary of what is left"),
    ("w", "go there, and bring the working files to that point"),
    ("f", "fork into a new session there"),
    ("l", "name the entry; an empty name clears"),
    ("d", "what differs between here and there"),
    ("y", "copy the entry's text"),
    ("Space", "the whole entry"),
    ("?", "these keys"),
    ("Esc, q", "leave without a move"),
)


FOOTERS = (
    "Enter go · s summary · f fork · l label · q leave",
    "Enter go · s summary · q leave",
    "q leave",
)


class Left(Struct, frozen=True):
    """No move."""


class Went(Struct, frozen=True):
    target: EntryId
    summarize: bool = False
    files: bool = False


class Forked(Struct, frozen=True):
    target: EntryId


Choice: TypeAlias = Left | Went | Forked


class Navigator:
    """What the navigator shows and does, without a terminal."""

    def __init__(
        self,
        view: TreeView,
        *,
        unicode: bool = True,
        label: Callable[[EntryId, str | None], None] | None = None,
        copy: Callable[[str], None] | None = None,
        files: Callable[[EntryId], Sequence[str]] | None = None,
    ) -> None:
        self.view = view
        self.mode: Mode = "move"
        self.typed = ""
        self.message = ""
        self._make_page: Callable[[int], list[str]] = lambda _: []
        self._page_top = 0
        self._page_rows: list[tuple[str, str]] = []
        self._page_width = 0
        self._files = files
        self.rows, self._columns = 20, 80
        self._unicode = unicode
        self._label = label
        self._copy = copy

    # ---- what keys do ---------------------------------------------------------------------------

    def type(self, text: str) -> None:
        """Text for the search or the label."""
        self.typed += safe_line(text) if len(text) > 1 else text
        if self.mode == "search":
            self._look()

    def rub_out(self) -> None:
        self.typed = self.typed[:-1]
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

    def choice(self, *, summarize: bool = False, files: bool = False) -> Choice:
        """Where Enter, s or w go; on to the place where one is already: nowhere."""
        current = self.view.current
        if current is None:
            return Left()
        stays = current.id == self.view.outline.leaf and current.role != "user"
        if stays and not files:
            return Left()
        return Went(current.id, summarize=summarize, files=files)

    def leave(self) -> Choice:
        return Left()

    def fork(self) -> Choice:
        current = self.view.current
        return Left() if current is None else Forked(current.id)

    def copy(self) -> None:
        current = self.view.current
        if current is not None and self._copy is not None:
            self._copy(current.whole)
            self.message = "copied, where the terminal allows it"

    def show_help(self) -> None:
        self._show_page(help_lines)

    def show_difference(self) -> None:
        current = self.view.current
        if current is None:
            return
        lines = difference(self.view.active, self.view.path_to(current.id))
        if self._files is not None:
            try:
                lines += self._files(current.id)
            except AgentshError as e:
                lines.append(f"files: {safe_line(str(e))}")
        self._show_page(lambda _: lines)

    def show_whole(self) -> None:
        current = self.view.current
        if current is not None:
            lines = safe_text(current.whole).split("\n")
            facts = facts_line(current, self.view.branch(current.id))
            self._show_page(lambda _: [facts, "", *lines])

    def scroll_page(self, rows: int) -> None:
        last = max(0, len(self._wrapped_page()) - self.rows)
        self._page_top = max(0, min(last, self._page_top + rows))

    # ---- drawing --------------------------------------------------------------------------------

    def draw(self, columns: int, rows: int) -> StyleAndTextTuples:
        """The screen: a title, the tree, a rule, a preview, a line for keys or typing."""
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
        here = line == view.cursor
        style = "class:tree.cursor" if here else "class:tree.path" if active else ""
        marks = ("●" if active else "○") if self._unicode else ("*" if active else "o")
        out.append((style, prefix(outline, line, unicode=self._unicode) + marks + " "))
        if item.label is not None:
            out.append((style if here else "class:tree.label", f"[{item.label}] "))
        text = f"{who(item)}: {item.text}"
        hit = bool(view.found) and view.found.lower() in item.whole.lower()
        out.append((style if here or not hit else "class:tree.hit", text[: columns * 2]))
        if view.is_folded(line):
            out.append((style, f"  (+{view.below(line)})"))
        if outline.opens[line] or view.is_folded(line):
            out.append((style or "class:quiet", f"  {branch_words(view.branch(item.id))}"))
        if item.id == outline.leaf:
            out.append((style, "  ← leaf" if self._unicode else "  <- leaf"))
        out.append(("", "\n"))

    def _draw_page(self, columns: int) -> StyleAndTextTuples:
        out: StyleAndTextTuples = []
        rows = self._wrapped_page()
        self._page_top = max(0, min(self._page_top, len(rows) - self.rows))
        shown = rows[self._page_top : self._page_top + self.rows]
        for row in shown:
            out += (row, ("", "\n"))
        out.append(("", "\n" * (self.rows - len(shown) + 1)))
        left = len(rows) - self._page_top - len(shown)
        back = "any other key goes back"
        ways = [f"{left} more lines (Down, PgDn) · {back}", f"Down: {left} more · {back}"]
        out.append(("class:tree.bar", fitting(ways if left > 0 else [back], columns - 1)))
        return out

    def _wrapped_page(self) -> list[tuple[str, str]]:
        """The page's rows in this width, with their styles; made once for each."""
        if self._page_width != self._columns:
            styles = {"+": "class:added", "-": "class:removed"}
            self._page_rows = [
                (styles.get(line[:1], ""), piece)
                for line in self._make_page(self._columns - 1)
                for piece in wrapped(line, self._columns - 1)
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
        """The entry that the cursor stands on: what it is, what hangs below it, how it begins."""
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
            case _:
                return fitting([self.message] if self.message else FOOTERS, columns - 1)
        return text[: columns - 1]

    # ---- inside ---------------------------------------------------------------------------------

    def _look(self) -> None:
        found = self.view.search(self.typed)
        self.message = "" if found or not self.typed else "(no hit)"

    def _name_current(self) -> None:
        current = self.view.current
        if current is None or self._label is None:
            return
        name = self.typed.strip() or None
        try:
            self._label(current.id, name)
        except AgentshError as e:
            self.message = safe_line(str(e))
            return
        self.view.relabel(current.id, None if name is None else safe_line(name, 60))

    def _show_page(self, lines: Callable[[int], list[str]]) -> None:
        """`lines`: made for a width; what is longer yet is wrapped."""
        self._make_page, self._page_top, self._page_width = lines, 0, 0
        self.mode = "page"


def navigate(
    session: SessionFace,
    terminal: Terminal,
    theme: Theme,
    *,
    label: Callable[[EntryId, str | None], None] | None = None,
    copy: Callable[[str], None] | None = None,
    files: Callable[[EntryId], Sequence[str]] | None = None,
    keyboard_input: Input | None = None,
    output: Output | None = None,
) -> Choice:
    """Show the tree of a session until the person decides."""
    tree = session.tree
    items = tree_items(session.entries(), tree.labels)
    view = TreeView(items, tree.path(session.leaf))
    navigator = Navigator(view, unicode=terminal.unicode, label=label, copy=copy, files=files)

    def draw() -> StyleAndTextTuples:
        return navigator.draw(*terminal.size)

    keys = navigator_keys(navigator)
    app = fullscreen(
        draw,
        keys,
        terminal,
        theme,
        result_type=object,
        keyboard_input=keyboard_input,
        output=output,
    )
    result = app.run()
    return result if isinstance(result, Went | Forked) else Left()


def help_lines(width: int) -> list[str]:
    """The keys in two columns, or each before its words where there is no room for that. Pure."""
    column = max(len(key) for key, _ in KEYS) + 2
    lines: list[str] = []
    for key, does in KEYS:
        if width >= column + 40:
            room, head, below = width, f"{key:<{column}}", " " * column
        else:
            room, head, below = max(width, 12), f"{key}: ", "    "
        lines += wrap(does, room, initial_indent=head, subsequent_indent=below)
    return lines


def facts_line(item: TreeItem, below: Below) -> str:
    """One line about an entry: who, when, what it took, and what its branch comes to."""
    parts = [item.id, who(item), item.time[:16].replace("T", " ")]
    if item.tokens:
        parts.append(f"{short_number(item.tokens)} tokens" + _dollars(item.cost))
    if below.entries > 1:
        parts.append(f"from here on: {branch_words(below)}")
    return safe_line(" · ".join(parts))


def branch_words(below: Below) -> str:
    """How large and how dear a branch is."""
    count = f"{below.entries} entr{'y' if below.entries == 1 else 'ies'}"
    prompts = f", {below.prompts} prompts" if below.prompts > 1 else ""
    tokens = f", {short_number(below.tokens)} tokens" if below.tokens else ""
    return f"{count}{prompts}{tokens}{_dollars(below.cost)}"


def _dollars(cost: float) -> str:
    if not cost:
        return ""
    return f", ${cost:.2f}" if cost >= 0.01 else ", <$0.01"


def difference(here: list[TreeItem], there: list[TreeItem]) -> list[str]:
    """What only one of two paths says, in lines. Pure."""
    shared = 0
    for one, other in zip(here, there, strict=False):
        if one.id != other.id:
            break
        shared += 1
    lines: list[str] = []
    for title, path, sign in (
        ("only here", here[shared:], "-"),
        ("only there", there[shared:], "+"),
    ):
        said = [item for item in path if not item.is_log]
        lines.append(f"{title}: {len(said)} entries")
        lines += [f"{sign} {who(item)}: {item.text}" for item in said[:DIFF_SHOWN]]
        lines.append("")
    return lines
