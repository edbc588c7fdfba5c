"""Keys of the chat → methods of the repl. One binding a line of the contract; no logic of its own.

Terminals that tell Shift-Enter apart do so in two spellings, of which prompt_toolkit takes one for
Enter and does not know the other (U05); both are taught to it here. Read next: repl.py.
"""

from __future__ import annotations

from typing import Protocol

from prompt_toolkit.filters import Condition, has_completions, vi_insert_mode
from prompt_toolkit.input import ansi_escape_sequences
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.keys import Keys


class Keyboard(Protocol):
    """What keys can ask for (repl.py)."""

    def enter(self) -> None: ...

    def alt_enter(self) -> None: ...

    def newline(self) -> None: ...

    def escape(self) -> None: ...

    def interrupt(self) -> None: ...

    def leave(self) -> None: ...

    def answer(self, key: str) -> None: ...

    def is_asked(self) -> bool:
        """A question is open and keys count as answers now."""


def teach_shift_enter() -> None:
    """Both spellings of Shift-Enter break the line, as Ctrl-J does."""
    for spelling in ("\x1b[27;2;13~", "\x1b[13;2u", "\x1b[27;5;13~", "\x1b[13;5u"):
        ansi_escape_sequences.ANSI_SEQUENCES[spelling] = Keys.ControlJ


def chat_keys(keyboard: Keyboard) -> KeyBindings:
    keys = KeyBindings()
    _add_stops(keys, keyboard)
    _add_answers(keys, keyboard)

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        keyboard.enter()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        keyboard.alt_enter()

    @keys.add("c-j")
    def _(event: KeyPressEvent) -> None:
        keyboard.newline()

    @keys.add("c-z")
    def _(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    @keys.add("c-g")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.open_in_editor()

    return keys


def _add_stops(keys: KeyBindings, keyboard: Keyboard) -> None:
    # in vi's insert mode Esc is vi's; the next one is ours
    @keys.add("escape", filter=~has_completions & ~vi_insert_mode)
    def _(event: KeyPressEvent) -> None:
        keyboard.escape()

    @keys.add("escape", filter=has_completions)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.cancel_completion()

    @keys.add("c-c")
    @keys.add("<sigint>")
    def _(event: KeyPressEvent) -> None:
        keyboard.interrupt()

    @keys.add("c-d")
    def _(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.delete()
        else:
            keyboard.leave()


def _add_answers(keys: KeyBindings, keyboard: Keyboard) -> None:
    asked = Condition(keyboard.is_asked)
    for key in "yan":

        @keys.add(key, filter=asked, eager=True)
        def _(event: KeyPressEvent) -> None:
            keyboard.answer(event.data)
