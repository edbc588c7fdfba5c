"""Views that take the whole screen for a while: their keys, set up, run, give the screen back.

They live in the alternate screen, so the scrollback stays as it was. Read next: navigator.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from msgspec import Struct
from prompt_toolkit.application import Application, get_app
from prompt_toolkit.filters import Always, Filter
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.output import Output

from agentsh.ui.input.terminal_input import KeyReader, TerminalInput, forget_unknown_alt
from agentsh.ui.screen import make_output, make_style
from agentsh.ui.signals import Signals, leave_with
from agentsh.ui.terminal import Terminal
from agentsh.ui.theme import Theme

T = TypeVar("T")
_ALWAYS = Always()
_ESC = "escape"
"""Also how a key with Alt begins, so it waits for what follows."""


def bind(
    keys: KeyBindings, actions: Mapping[str, Callable[[], object]], when: Filter = _ALWAYS
) -> None:
    """Key → what it does."""

    def bind_one(key: str, action: Callable[[], object]) -> None:
        @keys.add(key, filter=when, eager=key != _ESC)
        def _(event: KeyPressEvent) -> None:
            action()

    for key, action in actions.items():
        bind_one(key, action)


def bind_end(
    keys: KeyBindings, results: Mapping[str, Callable[[], object]], when: Filter = _ALWAYS
) -> None:
    """Key → what the view ends with."""
    bind(keys, {key: partial(_end, result) for key, result in results.items()}, when)


def _end(result: Callable[[], object]) -> None:
    get_app().exit(result=result())


def bind_typing(keys: KeyBindings, take: Callable[[str], None], when: Filter = _ALWAYS) -> None:
    """What is typed or pasted, if it can be shown."""

    @keys.add(Keys.Any, filter=when)
    @keys.add(Keys.BracketedPaste, filter=when)
    def _(event: KeyPressEvent) -> None:
        if event.data.isprintable():
            take(event.data)


class Screen(Struct, frozen=True):
    """Where a view is shown. `keyboard` and `output` None: the terminal's own."""

    terminal: Terminal
    theme: Theme
    keyboard: Input | None = None
    output: Output | None = None


class View(Application[T]):
    """An application that shows what `fullscreen` was given."""

    signals: Signals

    def run(self, *args: Any, **options: Any) -> T:
        """Raises SystemExit: a signal ended it, or came while it was ending."""
        try:
            result = super().run(*args, **options)
        finally:
            sign = self.signals.detach()
        if sign is not None:
            raise SystemExit(128 + sign)
        return result


def fullscreen(
    draw: Callable[[int, int], StyleAndTextTuples],
    keys: KeyBindings,
    screen: Screen,
    *,
    result_type: type[T],
) -> View[T]:
    """An application that shows what `draw` gives for so many columns and rows.

    A key ends it with `event.app.exit(result)`.
    """
    terminal = screen.terminal
    forget_unknown_alt(keys)

    def drawn() -> StyleAndTextTuples:
        return draw(*terminal.size)

    app: View[T] = View(
        layout=Layout(
            HSplit([Window(FormattedTextControl(drawn, focusable=True, show_cursor=False))])
        ),
        key_bindings=keys,
        style=make_style(screen.theme),
        full_screen=True,
        input=screen.keyboard or TerminalInput(terminal.stdin, KeyReader()),
        output=screen.output or make_output(terminal),
        include_default_pygments_style=False,
    )
    # a lone Esc must act at once
    app.ttimeoutlen = 0.05
    app.timeoutlen = 0.1
    app.signals = signals = Signals(app, leave_with(app))
    bind(keys, {"c-z": lambda: signals.stop(group=True)})
    app.pre_run_callables.append(lambda: signals.attach(asyncio.get_running_loop()))
    return app
