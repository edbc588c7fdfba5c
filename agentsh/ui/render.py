"""What happened → text with colours, ready to print above the prompt. Pure but for the width asked.

Every function gives lines that are final: they are printed once and never redrawn (U02). Foreign
text goes through sanitize.py first and into rich as `Text`, so that neither markup nor control
codes in it are obeyed (U01, X01). Lines are cut of trailing blanks and stay one column short of the
edge, so that a terminal that reflows has nothing to reflow (U14). The only home of rich.
Read next: live.py, cards.py.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import Heading, Markdown, MarkdownElement
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text
from rich.theme import Theme as RichTheme

from agentsh.ui.markdown import Block
from agentsh.ui.sanitize import safe_text
from agentsh.ui.terminal import Colours, Terminal
from agentsh.ui.theme import Role, Theme

_SYSTEMS: Mapping[Colours, Literal["standard", "256", "truecolor"]] = {
    Colours.ANSI: "standard",
    Colours.EIGHT_BIT: "256",
    Colours.TRUE: "truecolor",
}
_TRAILING = re.compile(r"[ \t]+((?:\x1b\[[0-9;]*m)*)$", re.MULTILINE)
# rich sets empty lines round lists and tables; who prints decides about gaps
_LEADING = re.compile(r"^(?:(?:\x1b\[[0-9;]*m)*\n)+")
_ENDING = re.compile(r"(?:\n(?:\x1b\[[0-9;]*m)*)+$")
_ASCII = str.maketrans(dict(zip("•●○✗›…→·─━╸╺│┌┐└┘├┤┬┴┼", "**ox>.>.----|+++++++++", strict=True)))


class _PlainHeading(Heading):
    """Left-aligned and bold, without rich's box and centring."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class SafeMarkdown(Markdown):
    """Markdown that loses nothing of a text and adds nothing to it.

    HTML, entities and link definitions are shown as they are written (entities could spell control
    characters, and rich drops HTML); a line break stays a line break. One object serves all blocks,
    since rich makes a parser for each of its own, which is a quarter of a short block's cost.
    """

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _PlainHeading,
    }

    def __init__(self, code_theme: str) -> None:
        super().__init__("", code_theme=code_theme, hyperlinks=False)
        self._parser = (
            MarkdownIt("commonmark", {"html": False})
            .enable(["strikethrough", "table"])
            .disable(["entity", "reference", "html_block", "html_inline"])
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

    def __init__(self, terminal: Terminal, theme: Theme) -> None:
        self._terminal = terminal
        self.use_theme(theme)

    def use_theme(self, theme: Theme) -> None:
        """What is rendered from now on looks like this."""
        terminal = self._terminal
        self.theme = theme
        self._markdown = SafeMarkdown(theme.code_theme)
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
    def width(self) -> int:
        return max(20, self._terminal.size[0] - 1)

    def ansi(self, what: RenderableType) -> str:
        """Any renderable as text that ends in a newline; trailing blanks are gone."""
        width = self.width
        if width != self._console.width:
            self._console.width = width
        with self._console.capture() as capture:
            self._console.print(what, soft_wrap=False)
        text = _TRAILING.sub(r"\1", capture.get())
        if not self._terminal.unicode:
            text = text.translate(_ASCII)
        return _ENDING.sub("", _LEADING.sub("", text)) + "\n"

    def styled(self, text: str, role: Role) -> Text:
        return Text(safe_text(text), style=self.theme.rich(role))

    def block(self, block: Block) -> str:
        """One block of an answer."""
        if block.kind == "code":
            return self._code(block)
        return self.ansi(_indented(self._markdown.of(block.text), block.indent))

    def user(self, text: str) -> str:
        """What the person said: verbatim, marked, never taken as Markdown."""
        lines = safe_text(text).split("\n")
        body = Text(style=self.theme.rich("user"))
        for number, line in enumerate(lines):
            body.append("› " if number == 0 else "\n  ")
            body.append(line)
        return "\n" + self.ansi(body)

    def line(self, text: str, role: Role) -> str:
        return self.ansi(self.styled(text, role))

    def _code(self, block: Block) -> str:
        code = Syntax(
            block.text,
            block.language or "text",
            theme=self.theme.code_theme,
            background_color="default",
            word_wrap=True,
        )
        return self.ansi(_indented(code, block.indent + 2))


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
