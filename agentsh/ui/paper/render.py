"""What happened → text with colours, ready to print above the prompt.

Nothing outside matters but the width asked. Every function gives lines that are final: they are
printed once and never redrawn (U02). Foreign text goes through agentsh/sanitize.py first and into
rich as `Text`, so that no markup or control code in it is obeyed (U01, X01). Lines are cut of
trailing blanks and stay one column short of the edge, so that a terminal that reflows has nothing
to reflow (U14). The only home of rich. Read next: transcript.py, cards.py.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Literal

from markdown_it.token import Token
from rich.color import ColorSystem
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import Markdown, MarkdownElement, TableElement
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.theme import Theme as RichTheme

from agentsh.sanitize import safe_text
from agentsh.ui.cells import hang_of, width_of
from agentsh.ui.commonmark import AgentMarkdown
from agentsh.ui.paper.highlight import TAB_CELLS, Code
from agentsh.ui.paper.inline import NOT_FOLLOWED
from agentsh.ui.paper.markdown import Block
from agentsh.ui.paper.prose import prose_lines
from agentsh.ui.paper.rows import Styled, around_addresses, rows
from agentsh.ui.terminal import Colours, Terminal
from agentsh.ui.theme import Role, Theme

_SYSTEMS: Mapping[Colours, Literal["standard", "256", "truecolor"]] = {
    Colours.ANSI: "standard",
    Colours.EIGHT_BIT: "256",
    Colours.TRUE: "truecolor",
}
_SGR: Mapping[Colours, ColorSystem] = {
    Colours.ANSI: ColorSystem.STANDARD,
    Colours.EIGHT_BIT: ColorSystem.EIGHT_BIT,
    Colours.TRUE: ColorSystem.TRUECOLOR,
}
_TRAILING = re.compile(r"[ \t]+((?:\x1b\[[0-9;]*m)*)$", re.MULTILINE)
# rich sets empty lines round lists and tables; who prints decides about gaps
_LEADING = re.compile(r"^(?:(?:\x1b\[[0-9;]*m)*\n)+")
_ENDING = re.compile(r"(?:\n(?:\x1b\[[0-9;]*m)*)+$")
_ASCII = str.maketrans(
    dict(zip("•●○✗›…→·─━╸╺│┃▌┌┐└┘├┤┬┴┼", "**ox>.>.----|||+++++++++", strict=True))
)


_NARROWEST = 8
"""Cells of a column; with less room than that for each, a row is written as a list."""
_ANY_WIDTH = 1_000_000
PROMPT_HEAD, PROMPT_TAIL = 12, 8
"""Lines of a long prompt that are printed."""


class _WholeTable(TableElement):
    """A table of which nothing is cut: long words are broken, many columns become lines."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for made in super().__rich_console__(console, options):
            if not isinstance(made, Table):
                yield made
                continue
            for column in made.columns:
                column.overflow = "fold"
            room = options.max_width // max(1, len(made.columns))
            natural = console.measure(made, options=options.update(max_width=_ANY_WIDTH))
            if natural.maximum <= options.max_width or room >= _NARROWEST:
                yield made
            else:
                yield from self._as_lines()

    def _as_lines(self) -> Iterator[RenderableType]:
        heads = self.header.row.cells if self.header and self.header.row else []
        for number, row in enumerate(self.body.rows if self.body else ()):
            if number:
                yield Text("")
            for head, cell in zip(heads, row.cells, strict=False):
                name = head.content.copy()
                name.stylize("markdown.table.header")
                line = Text.assemble(name, ": ", cell.content) if name else cell.content.copy()
                line.overflow = "fold"
                yield line


class SafeMarkdown(Markdown):
    """Tables and quotes, laid out by rich: nothing is lost and nothing added (inline.py).

    A line break stays a line break. One object serves all blocks, since rich makes a parser for
    each of its own, which is a quarter of a short block's cost.
    """

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "table_open": _WholeTable,
    }

    def __init__(self, code_theme: str) -> None:
        super().__init__("", code_theme=code_theme, hyperlinks=False)
        self._parser = (
            AgentMarkdown({"html": False})
            .enable(["strikethrough", "table"])
            .disable(list(NOT_FOLLOWED))
        )

    def of(self, text: str) -> SafeMarkdown:
        """This, with another text."""
        self.markup = text
        self.parsed = self._parser.parse(text)
        for token in self.parsed:
            _keep_breaks(token.children or ())
        return self


def _keep_breaks(tokens: Iterable[Token]) -> None:
    for token in tokens:
        if token.type == "softbreak":
            token.type = "hardbreak"


class Renderer:
    """Turns values into printable text for one terminal and theme."""

    def __init__(self, terminal: Terminal, theme: Theme, folder: str = "") -> None:
        self._terminal = terminal
        self.folder = folder
        """Paths below it are shown as they are from there."""
        self.use_theme(theme)

    def use_theme(self, theme: Theme) -> None:
        """What is rendered from now on looks like this."""
        terminal = self._terminal
        self.theme = theme
        self._markdown = SafeMarkdown("ansi_dark")
        self._codes: dict[str, tuple[str, str]] = {}
        colours = terminal.colours
        # no colours still means bold and dim: NO_COLOR is about colour only
        self._console = Console(
            file=io.StringIO(),
            force_terminal=not terminal.dumb,
            color_system=None if terminal.dumb else _SYSTEMS.get(colours, "standard"),
            no_color=colours is Colours.NONE,
            legacy_windows=False,
            markup=False,
            emoji=False,
            highlight=False,
            theme=_rich_theme(theme),
            width=80,
            height=100,
            _environ={},
        )

    @property
    def is_unicode(self) -> bool:
        return self._terminal.unicode

    @property
    def width(self) -> int:
        return max(20, self._terminal.size[0] - 1)

    def ansi(self, what: RenderableType, *, whole_lines: bool = False) -> str:
        """Any renderable as text that ends in a newline; trailing blanks are gone."""
        width = self.width
        if width != self._console.width:
            self._console.width = width
        with self._console.capture() as capture:
            self._console.print(what, soft_wrap=whole_lines)
        text = _TRAILING.sub(r"\1", capture.get())
        if not self._terminal.unicode:
            text = text.translate(_ASCII)
        return _ENDING.sub("", _LEADING.sub("", text)) + "\n"

    def block(self, block: Block, code: Code, *, live: bool = False) -> str:
        """One block of an answer. `code` is that of the piece that a block of code belongs to.

        `live`: it is not final, and code too is broken into rows.
        """
        if block.kind in ("table", "quote"):
            return self.ansi(_indented(self._markdown.of(block.text), block.indent))
        if block.kind == "code":
            return "".join(self._code_lines(block, code, live=live))
        how = self.lines if live else self.lines_and_addresses
        lines = prose_lines(block, self.width)
        return "".join(row for line, indent in lines for row in how(line, indent))

    def lines(
        self, spans: Sequence[Styled], indent: int = 0, margin: Styled | None = None
    ) -> Iterator[str]:
        """A line as rows: those after the first `indent` cells in, all of them behind a margin."""
        if margin is None:
            for row in rows(spans, self.width, indent):
                yield f"{self.paint(row)}\n"
            return
        for row in rows(spans, self.width - width_of(margin[0]), indent):
            yield f"{self.paint([margin, *row])}\n"

    def paint(self, row: Iterable[Styled]) -> str:
        """A row in the terminal's codes, without blanks at its end."""
        painted: list[str] = []
        looks = ""
        after = ""
        for text, look in row:
            if look != looks:
                painted.append(after)
                before, after = (
                    (self._codes.get(look) or self._codes_of(look)) if look else ("", "")
                )
                painted.append(before)
                looks = look
            painted.append(text)
        painted.append(after)
        line = "".join(painted)
        if line.endswith((" ", "m")):
            line = _TRAILING.sub(r"\1", line)
        return line if self._terminal.unicode else line.translate(_ASCII)

    def user(self, text: str) -> str:
        """What the person said: verbatim, in a frame at its left, never taken as Markdown.

        Of a long paste the beginning and the end.
        """
        margin = ("┃ ", "user")
        said = safe_text(text).split("\n")
        if (left_out := len(said) - PROMPT_HEAD - PROMPT_TAIL) > PROMPT_TAIL:
            gap = f"… {left_out} lines (Space in /tree shows all)"
            said = [*said[:PROMPT_HEAD], gap, *said[-PROMPT_TAIL:]]
        lines = ([(line.expandtabs(TAB_CELLS), "user")] for line in said)
        return "\n" + "".join(
            row for line in lines for row in self.lines_and_addresses(line, 0, margin)
        )

    def line(self, text: str, role: Role) -> str:
        """A text of the program's own, or of a file; each line goes on below its own beginning."""
        lines = (line.expandtabs(TAB_CELLS) for line in safe_text(text).split("\n"))
        return "".join(
            row for line in lines for row in self.lines_and_addresses([(line, role)], hang_of(line))
        )

    def _code_lines(self, block: Block, code: Code, *, live: bool) -> Iterator[str]:
        """Each line whole, so that it is copied as one; the terminal breaks it."""
        margin = " " * (block.indent + 2)
        for line in block.text.split("\n"):
            spans = [(margin, ""), *code.line(line)]
            if live:
                yield from self.lines(spans)
            else:
                yield f"{self.paint(spans)}\n"

    def lines_and_addresses(
        self, spans: Sequence[Styled], indent: int = 0, margin: Styled | None = None
    ) -> Iterator[str]:
        """Rows, but for a long address: whole, so that it is opened and copied as one."""
        room = self.width - indent - (width_of(margin[0]) if margin else 0)
        for number, (piece, is_address) in enumerate(around_addresses(spans, room, indent)):
            row = [(" " * indent, ""), *piece] if number and indent else piece
            if is_address:
                yield f"{self.paint([margin, *row] if margin else row)}\n"
            else:
                yield from self.lines(row, indent, margin)

    def _codes_of(self, look: str) -> tuple[str, str]:
        """What stands before and after text of a look."""
        styles = {str(role): style for role, style in self.theme.styles.items()}
        style = Style.parse(" ".join(styles.get(word, word) for word in look.split()) or "none")
        if self._console.no_color:
            style = style.without_color
        dumb = self._terminal.dumb
        system = None if dumb else _SGR.get(self._terminal.colours, ColorSystem.STANDARD)
        before, _, after = style.render("|", color_system=system).partition("|")
        self._codes[look] = (before, after)
        return before, after


def _indented(what: RenderableType, columns: int) -> RenderableType:
    return Padding(what, (0, 0, 0, columns), expand=False) if columns else what


def _rich_theme(theme: Theme) -> RichTheme:
    code = theme.rich("code")
    return RichTheme(
        {
            "markdown.code": code,
            "markdown.code_block": code,
            "markdown.item.bullet": "none",
            "markdown.item.number": "none",
            "markdown.list": "none",
            "markdown.block_quote": theme.rich("quiet"),
            "markdown.hr": theme.rich("quiet"),
            "markdown.link": "underline",
            "markdown.link_url": theme.rich("quiet"),
            "markdown.table.border": theme.rich("quiet"),
            "markdown.table.header": "bold",
            **{f"markdown.h{n}": theme.rich("heading") for n in range(1, 8)},
            "markdown.h1": "bold underline",
        }
    )
