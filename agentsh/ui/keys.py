"""Keys of the chat → methods of the keyboard, as the keymap says. No logic of its own.

Terminals that tell Shift-Enter apart do so in two spellings, of which prompt_toolkit takes one for
Enter and does not know the other (U05); both are taught to it here. While a search in the history
is open, keys are its own. Read next: keymap.py, keyboard.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from prompt_toolkit.filters import (
    Condition,
    FilterOrBool,
    has_completions,
    is_searching,
    vi_insert_mode,
)
from prompt_toolkit.input import ansi_escape_sequences
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.search import SearchDirection, start_search

from agentsh.ui.keymap import Keymap

Handler: TypeAlias = Callable[[KeyPressEvent], object]
ANSWERS = "yapne"


class Pressed(Protocol):
    """What keys can ask for (keyboard.py)."""

    def enter(self) -> None: ...

    def alt_enter(self) -> None: ...

    def newline(self) -> None: ...

    def escape(self) -> None: ...

    def interrupt(self) -> None: ...

    def leave(self) -> None: ...

    def answer(self, key: str) -> None: ...

    def is_asked(self) -> bool:
        """A question is open and keys count as answers now."""

    def paste_image(self) -> None: ...

    def pasted(self, text: str) -> None: ...

    def drops(self) -> bool:
        """Backspace would drop an attachment now."""

    def drop(self) -> None: ...

    def unqueue(self) -> None: ...

    def unfold(self, kind: str) -> None: ...

    def next_level(self) -> None: ...

    def command(self, line: str) -> None:
        """As if this command had been typed."""


def teach_shift_enter() -> None:
    """Both spellings of Shift-Enter break the line, as Ctrl-J does."""
    for spelling in ("\x1b[27;2;13~", "\x1b[13;2u", "\x1b[27;5;13~", "\x1b[13;5u"):
        ansi_escape_sequences.ANSI_SEQUENCES[spelling] = Keys.ControlJ


def chat_keys(keyboard: Pressed, keymap: Keymap) -> KeyBindings:
    keys = KeyBindings()
    filters: dict[str, FilterOrBool] = {
        # in vi's insert mode Esc is vi's; the next one is ours
        "stop": ~has_completions & ~vi_insert_mode & ~is_searching,
        "interrupt": ~is_searching,
    }
    for name, handler in _handlers(keyboard).items():
        when = filters.get(name, ~is_searching)
        for sequence in keymap.sequences(name):
            keys.add(*sequence, filter=when)(_bound(handler))
    _add_fixed(keys, keyboard)
    _add_answers(keys, keyboard)
    return keys


def _handlers(keyboard: Pressed) -> dict[str, Handler]:
    return {
        "send": lambda _: keyboard.enter(),
        "queue": lambda _: keyboard.alt_enter(),
        "newline": lambda _: keyboard.newline(),
        "stop": lambda _: keyboard.escape(),
        "interrupt": lambda _: keyboard.interrupt(),
        "leave": lambda event: _delete_or_leave(event, keyboard),
        "suspend": lambda event: event.app.suspend_to_background(),
        "editor": lambda event: event.current_buffer.open_in_editor(),
        "search": lambda _: start_search(direction=SearchDirection.BACKWARD),
        "unqueue": lambda _: keyboard.unqueue(),
        "paste": lambda _: keyboard.paste_image(),
        "unfold": lambda _: keyboard.unfold("calls"),
        "thoughts": lambda _: keyboard.unfold("thoughts"),
        "level": lambda _: keyboard.next_level(),
        "models": lambda _: keyboard.command("/model"),
        "tree": lambda _: keyboard.command("/tree"),
        "sessions": lambda _: keyboard.command("/resume"),
        "labels": lambda _: keyboard.command("/checkout"),
    }


def _bound(handler: Handler) -> Callable[[KeyPressEvent], None]:
    def handle(event: KeyPressEvent) -> None:
        handler(event)

    return handle


def _delete_or_leave(event: KeyPressEvent, keyboard: Pressed) -> None:
    if event.current_buffer.text:
        event.current_buffer.delete()
    else:
        keyboard.leave()


def _add_fixed(keys: KeyBindings, keyboard: Pressed) -> None:
    @keys.add("escape", filter=has_completions)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.cancel_completion()

    # whatever Ctrl-C is bound to: the signal interrupts
    @keys.add("<sigint>")
    def _(event: KeyPressEvent) -> None:
        keyboard.interrupt()

    @keys.add(Keys.BracketedPaste, filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        keyboard.pasted(event.data)

    @keys.add("backspace", filter=Condition(keyboard.drops))
    def _(event: KeyPressEvent) -> None:
        keyboard.drop()


def _add_answers(keys: KeyBindings, keyboard: Pressed) -> None:
    asked = Condition(keyboard.is_asked)
    for key in ANSWERS:

        @keys.add(key, filter=asked, eager=True)
        def _(event: KeyPressEvent) -> None:
            keyboard.answer(event.data)
