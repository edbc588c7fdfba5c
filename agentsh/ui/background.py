"""Is the terminal light or dark: asked of the terminal itself (OSC 11), never waited for.

The question goes out when the first prompt is drawn; the answer comes among the keys, whenever it
comes, and is taken out of them here, so that a slow line types nothing into the draft. Until then,
and where no answer comes, the theme is the one that reads on both. Settings that name a theme, and
COLORFGBG, are not second-guessed: then nothing is asked. Read next: theme.py, repl.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from prompt_toolkit.input import Input, create_input
from prompt_toolkit.input.vt100 import Vt100Input

from agentsh.ui.terminal import Background, Terminal

QUESTION = "\x1b]11;?\x1b\\"
_ANSWER = re.compile(r"\x1b\]11;([^\x07\x1b]{0,60})(?:\x07|\x1b\\)")
_BEGUN = re.compile(r"\x1b(?:\](?:1(?:1(?:;[^\x07\x1b]{0,60}\x1b?)?)?)?)?$")
_COLOUR = re.compile(r"rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})")


class AnswerFilter:
    """Takes answers out of what is typed. A lone Esc is let through at once."""

    def __init__(self, answered: Callable[[Background], None]) -> None:
        self._answered = answered
        self._held = ""

    def feed(self, typed: str) -> str:
        text = self._held + typed
        self._held = ""
        for found in _ANSWER.finditer(text):
            self._answered(background_of(found[1]))
        text = _ANSWER.sub("", text)
        begun = _BEGUN.search(text)
        if begun is not None and len(begun[0]) > 2:
            self._held, text = begun[0], text[: begun.start()]
        return text


def background_of(colour: str) -> Background:
    """`rgb:ffff/ffff/ffff` → light. By what the eye takes for bright."""
    found = _COLOUR.match(colour)
    if found is None:
        return "unknown"
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in found.groups())
    return "light" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "dark"


def listening_input(terminal: Terminal, answered: Callable[[Background], None]) -> Input:
    """The terminal's keys without the answers among them."""
    keyboard = create_input(terminal.stdin)
    if isinstance(keyboard, Vt100Input):
        reader = keyboard.stdin_reader
        read, answers = reader.read, AnswerFilter(answered)

        def filtered(count: int = 1024) -> str:
            return answers.feed(read(count))

        reader.read = filtered  # type: ignore[method-assign]  # prompt_toolkit has no hook for it
    return keyboard
