"""Views that take the whole screen for a while: set up, run, give the screen back.

They live in the alternate screen, so the scrollback stays as it was. Read next: navigator.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from prompt_toolkit.application import Application
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout import FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.output import Output

from agentsh.ui.screen import make_output, make_style
from agentsh.ui.terminal import Terminal
from agentsh.ui.theme import Theme

T = TypeVar("T")


def fullscreen(
    draw: Callable[[], StyleAndTextTuples],
    keys: KeyBindings,
    terminal: Terminal,
    theme: Theme,
    *,
    result_type: type[T],
    keyboard_input: Input | None = None,
    output: Output | None = None,
) -> Application[T]:
    """An application that shows what `draw` gives; a key ends it with `event.app.exit(result)`."""
    app: Application[T] = Application(
        layout=Layout(
            HSplit([Window(FormattedTextControl(draw, focusable=True, show_cursor=False))])
        ),
        key_bindings=keys,
        style=make_style(theme),
        full_screen=True,
        input=keyboard_input or create_input(terminal.stdin),
        output=output or make_output(terminal),
        include_default_pygments_style=False,
    )
    # a lone Esc must act at once
    app.ttimeoutlen = 0.05
    app.timeoutlen = 0.1
    return app
