"""Keys of the chat → methods of the keyboard, as the keymap says. No logic of its own.

While a search in the history is open, keys are its own. Read next: keymap.py, keyboard.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from prompt_toolkit.filters import (
    Condition,
    FilterOrBool,
    has_completions,
    is_searching,
    vi_insert_mode,
    vi_mode,
    vi_navigation_mode,
)
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.search import SearchDirection, start_search

from agentsh.ui.chat.keyboard import Keyboard
from agentsh.ui.input.keymap import Keymap
from agentsh.ui.input.terminal_input import forget_unknown_alt

Handler: TypeAlias = Callable[[KeyPressEvent], object]
ANSWERS = "yapne"


def chat_keys(keyboard: Keyboard, keymap: Keymap) -> KeyBindings:
    keys = KeyBindings()
    _add_moves(keys, keyboard)  # first: whoever binds one of these to an action means that
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


def _handlers(keyboard: Keyboard) -> dict[str, Handler]:
    return {
        "send": lambda _: keyboard.enter(),
        "queue": lambda _: keyboard.alt_enter(),
        "newline": lambda _: keyboard.newline(),
        "stop": lambda _: keyboard.escape(),
        "interrupt": lambda _: keyboard.interrupt(),
        "leave": lambda event: _delete_or_leave(event, keyboard),
        "suspend": lambda _: keyboard.suspend(),
        "editor": lambda _: keyboard.edit(),
        "search": lambda _: start_search(direction=SearchDirection.BACKWARD),
        "unqueue": lambda _: keyboard.unqueue(),
        "paste": lambda _: keyboard.paste_image(),
        "expand": lambda _: keyboard.expand(),
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


def _delete_or_leave(event: KeyPressEvent, keyboard: Keyboard) -> None:
    if event.current_buffer.text:
        event.current_buffer.delete()
    else:
        keyboard.leave()


def _add_moves(keys: KeyBindings, keyboard: Keyboard) -> None:
    for name, when in (("up", ~is_searching), ("c-p", ~is_searching & ~vi_mode)):
        keys.add(name, filter=when)(lambda event: keyboard.up(event.arg))
    for name, when in (("down", ~is_searching), ("c-n", ~is_searching & ~vi_mode)):
        keys.add(name, filter=when)(lambda event: keyboard.down(event.arg))
    keys.add("pageup", filter=~is_searching)(lambda _: keyboard.page(-1))
    keys.add("pagedown", filter=~is_searching)(lambda _: keyboard.page(1))


def _add_fixed(keys: KeyBindings, keyboard: Keyboard) -> None:
    forget_unknown_alt(keys)

    @keys.add("tab", filter=has_completions)
    def _(event: KeyPressEvent) -> None:
        keyboard.tab()

    @keys.add("tab", filter=Condition(keyboard.offers))
    def _(event: KeyPressEvent) -> None:
        keyboard.choose()

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

    @keys.add("?", filter=Condition(keyboard.asks_for_help) & ~is_searching & ~vi_navigation_mode)
    def _(event: KeyPressEvent) -> None:
        keyboard.card()

    @keys.add("backspace", filter=Condition(keyboard.drops))
    def _(event: KeyPressEvent) -> None:
        keyboard.drop()


def _add_answers(keys: KeyBindings, keyboard: Keyboard) -> None:
    asked = Condition(keyboard.is_asked)
    for key in ANSWERS:

        @keys.add(key, filter=asked, eager=True)
        def _(event: KeyPressEvent) -> None:
            keyboard.answer(event.data)
