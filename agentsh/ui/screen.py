"""The foot, which prompt_toolkit draws: question, queue, editor, status.

Everything above is final and belongs to the terminal's scrollback, but for the live tail
(painter.py). `HeldOutput` joins erasing, printing and redrawing into one write, which a terminal
that knows mode 2026 shows at once, so that nothing flickers; it never asks the terminal where the
cursor is, so slow lines stay quick. Heights are bounded by the window's.
Read next: painter.py, repl.py, keys.py.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TextIO

from msgspec import Struct
from prompt_toolkit.application import Application, get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.margins import ConditionalMargin
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.layout.processors import (
    AfterInput,
    ConditionalProcessor,
    PasswordProcessor,
    Processor,
    TabsProcessor,
)
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.styles import DynamicStyle, Style
from prompt_toolkit.widgets import SearchToolbar

from agentsh.ui.terminal import Colours, Terminal
from agentsh.ui.theme import Theme
from agentsh.ui.wordwrap import INDENT, WordWrap

_DEPTHS = {
    Colours.NONE: ColorDepth.DEPTH_1_BIT,
    Colours.ANSI: ColorDepth.DEPTH_4_BIT,
    Colours.EIGHT_BIT: ColorDepth.DEPTH_8_BIT,
    Colours.TRUE: ColorDepth.DEPTH_24_BIT,
}


_TOGETHER, _SHOWN = "\x1b[?2026h", "\x1b[?2026l"
"""Synchronised output: between them a terminal shows nothing of what comes. Others ignore both."""

MENU_ROWS = 6
"""Of what may follow, at most."""

_TABS = TabsProcessor(tabstop=8, char1=" ", char2=" ")

ROWS_FOR_A_FRAME = 20
"""From this height on there are rules above and below the editor."""

ROWS_FOR_A_GAP = 24
"""From this height on an empty row stands above them."""


class HeldOutput(Vt100_Output):
    """An output that can keep its writes back and give them as one."""

    def __init__(
        self,
        stdout: TextIO,
        get_size: Callable[[], Size],
        depth: ColorDepth,
        *,
        tmux: bool = False,
        reflows: bool = True,
    ) -> None:
        super().__init__(stdout, get_size, default_color_depth=depth, enable_cpr=False)
        self._tmux = tmux
        self.reflows = reflows
        """What is shown is wrapped anew when the window's width changes."""
        self._holding = 0
        self._taken = 0

    def get_size(self) -> Size:
        size = super().get_size()
        return Size(rows=max(1, size.rows - self._taken), columns=size.columns)

    def erase_down(self) -> None:
        if not self._tmux:
            super().erase_down()
            return
        # erased from its very first cell, tmux moves what is on the screen into the history
        self.write_raw("\x1b[K\x1b[C\x1b[J\x1b[D")

    def flush(self) -> None:
        if self._holding:
            return
        try:
            super().flush()
        except OSError as e:
            # the terminal was closed: nobody sees anything, and the turn must still end well
            if e.errno != errno.EIO:
                raise

    @contextmanager
    def held(self) -> Iterator[None]:
        self._holding += 1
        try:
            yield
        finally:
            self._holding -= 1
            if self._buffer and not self._holding:
                self._buffer = [_TOGETHER, *self._buffer, _SHOWN]
            self.flush()

    @contextmanager
    def recorded(self, *, taken: int) -> Iterator[list[str]]:
        """Held; what was written in the block is in the list after it.

        Whoever asks for the size in it is told of a window that is lower by so many rows.
        """
        written: list[str] = []
        with self.held():
            start, self._taken = len(self._buffer), taken
            try:
                yield written
            finally:
                self._taken = 0
            written += self._buffer[start:]


class Parts(Struct, frozen=True):
    """What the foot shows, asked anew at each drawing."""

    question: Callable[[], list[str]]
    choices: Callable[[], list[str]]
    queue: Callable[[], list[str]]
    status: Callable[[], str]
    rows: Callable[[], int]
    mark: Callable[[], str] = lambda: "› "
    frame: tuple[str, str] = ("", "")
    """What stands above and below the editor in a window that is high enough.

    Short: what a narrower window wraps, or does not, is hard to know of a terminal (painter.py).
    """
    placeholder: Callable[[], str] = lambda: ""
    """What stands in an empty editor."""
    hides: Callable[[], bool] = lambda: False
    """What is typed is not to be seen."""


def make_output(terminal: Terminal) -> HeldOutput:
    def size() -> Size:
        columns, rows = terminal.size
        return Size(rows=rows, columns=columns)

    return HeldOutput(
        terminal.stdout,
        size,
        _DEPTHS[terminal.colours],
        tmux=terminal.tmux,
        reflows=terminal.reflows,
    )


def _processors(parts: Parts, buffer: Buffer) -> list[Processor]:
    """How the draft is shown."""
    is_empty = Condition(lambda: not buffer.text) & ~is_searching
    empty = ConditionalProcessor(AfterInput(parts.placeholder, "class:placeholder"), is_empty)
    hidden = ConditionalProcessor(PasswordProcessor(), Condition(parts.hides))
    return [_TABS, WordWrap(parts.mark), hidden, empty]


def rows_of_editor(rows: int) -> int:
    """How many of a draft are shown at once, in a window of so many rows."""
    return max(3, rows // 3)


def make_layout(parts: Parts, buffer: Buffer) -> Layout:
    search = SearchToolbar(
        ignore_case=True,
        forward_search_prompt="search forward: ",
        backward_search_prompt="search in earlier prompts: ",
    )
    control = BufferControl(
        buffer,
        _processors(parts, buffer),
        search_buffer_control=search.control,
        preview_search=True,
    )
    editor = Window(
        control,
        wrap_lines=True,
        dont_extend_height=True,
        height=lambda: Dimension(min=1, max=rows_of_editor(parts.rows())),
        get_line_prefix=lambda line, wraps: [
            ("class:mark", parts.mark() if line == wraps == 0 else " " * INDENT)
        ],
    )
    status = FormattedTextControl(lambda: [("class:status", parts.status())])
    return Layout(
        HSplit(
            [
                _lines("class:question", parts.question),
                _lines("class:choice", parts.choices),
                _lines("class:queue", parts.queue),
                _gap(parts),
                _frame(parts, 0),
                editor,
                _frame(parts, 1),
                _menu(),
                search,
                Window(status, height=1, dont_extend_height=True),
            ]
        ),
        focused_element=editor,
    )


def make_app(
    layout: Layout,
    keys: KeyBindings,
    theme: Callable[[], Theme],
    keyboard: Input,
    output: HeldOutput,
    *,
    vi: bool = False,
) -> Application[None]:
    """The chat's application: in the normal screen, gone without a trace when it ends."""
    app: Application[None] = Application(
        layout=layout,
        key_bindings=keys,
        style=DynamicStyle(lambda: make_style(theme())),
        input=keyboard,
        output=output,
        erase_when_done=True,
        include_default_pygments_style=False,
        mouse_support=False,
        editing_mode=EditingMode.VI if vi else EditingMode.EMACS,
    )
    # a lone Esc must act at once, not after prompt_toolkit's second
    app.ttimeoutlen = 0.05
    app.timeoutlen = 0.1
    return app


def _gap(parts: Parts) -> ConditionalContainer:
    return ConditionalContainer(Window(height=1), Condition(lambda: parts.rows() >= ROWS_FOR_A_GAP))


def _frame(parts: Parts, side: int) -> ConditionalContainer:
    control = FormattedTextControl([("class:frame", parts.frame[side])])
    is_high = Condition(lambda: parts.rows() >= ROWS_FOR_A_FRAME)
    return ConditionalContainer(Window(control, height=1, dont_extend_height=True), is_high)


def _menu() -> CompletionsMenu:
    """What may follow; with a scroll bar only where there is more than is shown."""
    menu = CompletionsMenu(max_height=MENU_ROWS, scroll_offset=1)
    window = menu.content
    assert isinstance(window, Window)
    is_cut = Condition(lambda: _has_more(window))
    window.right_margins = [ConditionalMargin(margin, is_cut) for margin in window.right_margins]
    return menu


def _has_more(menu: Window) -> bool:
    state = get_app().current_buffer.complete_state
    shown = menu.render_info
    rows = MENU_ROWS if shown is None else min(MENU_ROWS, shown.window_height)
    return state is not None and len(state.completions) > rows


@lru_cache(maxsize=8)
def make_style(theme: Theme) -> Style:
    return Style.from_dict(
        {
            **{role: theme.toolkit(role) for role in theme.roles},
            "question": theme.toolkit("warn") + " bold",
            "choice": "",
            "queue": "italic",
            "mark": theme.toolkit("user"),
            "frame": theme.toolkit("quiet"),
            "placeholder": theme.toolkit("quiet"),
            "status": "italic",
            "completion-menu": "noinherit",
            "completion-menu.completion": "noinherit",
            "completion-menu.completion.current": "noinherit reverse",
            "completion-menu.meta.completion": "noinherit",
            "completion-menu.meta.completion.current": "noinherit reverse",
            "scrollbar.background": "noinherit",
            "scrollbar.button": "noinherit reverse",
            "tree.cursor": "reverse",
            "tree.path": theme.toolkit("user"),
            "tree.hit": theme.toolkit("warn"),
            "tree.label": theme.toolkit("ok"),
            "tree.quiet": "",
            "tree.bar": "reverse",
        }
    )


def _lines(style: str, make: Callable[[], list[str]]) -> ConditionalContainer:
    made: tuple[int, list[str]] = (-1, [])

    def lines() -> list[str]:
        """Once a drawing, though it asks whether, how high and what."""
        nonlocal made
        now = get_app().render_counter
        if made[0] != now:
            made = (now, make())
        return made[1]

    def fragments() -> StyleAndTextTuples:
        return [(style, "\n".join(lines()))]

    return ConditionalContainer(
        Window(
            FormattedTextControl(fragments),
            height=lambda: Dimension.exact(max(1, len(lines()))),
            dont_extend_height=True,
        ),
        Condition(lambda: bool(lines())),
    )
