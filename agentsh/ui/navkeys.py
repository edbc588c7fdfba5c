"""Keys of the tree navigator → methods of it. Read next: navigator.py."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, Protocol, TypeAlias

from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.keys import Keys

Mode: TypeAlias = Literal["move", "search", "label", "page"]


class Moving(Protocol):
    """What moves over the lines (treeview.py)."""

    def move(self, steps: int) -> None: ...

    def home(self) -> None: ...

    def end(self) -> None: ...

    def fold(self) -> None: ...

    def unfold(self) -> None: ...

    def next_filter(self) -> None: ...


class NavigatorFace(Protocol):
    """What keys can ask of the navigator."""

    mode: Mode
    rows: int

    @property
    def view(self) -> Moving: ...

    def type(self, text: str) -> None: ...

    def rub_out(self) -> None: ...

    def begin(self, mode: Mode) -> None: ...

    def accept(self) -> None: ...

    def cancel(self) -> None: ...

    def again(self, step: int) -> None: ...

    def choice(self, *, summarize: bool = False, files: bool = False) -> object: ...

    def fork(self) -> object: ...

    def leave(self) -> object: ...

    def copy(self) -> None: ...

    def show_help(self) -> None: ...

    def show_difference(self) -> None: ...

    def show_whole(self) -> None: ...

    def scroll_page(self, rows: int) -> None: ...


def navigator_keys(navigator: NavigatorFace) -> KeyBindings:
    keys = KeyBindings()
    moving = Condition(lambda: navigator.mode == "move")
    typing = Condition(lambda: navigator.mode in ("search", "label"))
    reading = Condition(lambda: navigator.mode == "page")
    _add_typing(keys, navigator, typing)
    for key, action in _moves(navigator).items():
        _add(keys, key, moving, action)
    for key, decide in _decisions(navigator).items():
        _add_end(keys, key, moving, decide)

    scrolls = {"up": -1, "k": -1, "down": 1, "j": 1, "home": -(10**9), "end": 10**9}
    for key, rows in scrolls.items():
        _add(keys, key, reading, partial(navigator.scroll_page, rows))
    _add(keys, "pageup", reading, _scrolling(navigator, lambda: -navigator.rows))
    _add(keys, "pagedown", reading, _scrolling(navigator, lambda: navigator.rows))
    _add(keys, " ", reading, _scrolling(navigator, lambda: navigator.rows))

    @keys.add(Keys.Any, filter=reading)
    @keys.add("escape", filter=reading)
    @keys.add("enter", filter=reading)
    def _(event: KeyPressEvent) -> None:
        navigator.cancel()

    return keys


def _moves(navigator: NavigatorFace) -> dict[str, Callable[[], None]]:
    view = navigator.view
    return {
        "up": lambda: view.move(-1),
        "k": lambda: view.move(-1),
        "down": lambda: view.move(1),
        "j": lambda: view.move(1),
        "pageup": lambda: view.move(-navigator.rows),
        "pagedown": lambda: view.move(navigator.rows),
        "home": view.home,
        "end": view.end,
        "left": view.fold,
        "right": view.unfold,
        "tab": view.next_filter,
        "/": lambda: navigator.begin("search"),
        "n": lambda: navigator.again(1),
        "N": lambda: navigator.again(-1),
        "l": lambda: navigator.begin("label"),
        "d": navigator.show_difference,
        "y": navigator.copy,
        " ": navigator.show_whole,
        "?": navigator.show_help,
    }


def _scrolling(navigator: NavigatorFace, rows: Callable[[], int]) -> Callable[[], None]:
    return lambda: navigator.scroll_page(rows())


def _decisions(navigator: NavigatorFace) -> dict[str, Callable[[], object]]:
    return {
        "enter": navigator.choice,
        "s": lambda: navigator.choice(summarize=True),
        "w": lambda: navigator.choice(files=True),
        "f": navigator.fork,
        "q": navigator.leave,
        "escape": navigator.leave,
        "c-c": navigator.leave,
        "c-d": navigator.leave,
    }


def _add_typing(keys: KeyBindings, navigator: NavigatorFace, typing: Condition) -> None:
    @keys.add(Keys.Any, filter=typing)
    @keys.add(Keys.BracketedPaste, filter=typing)
    def _(event: KeyPressEvent) -> None:
        if event.data.isprintable():
            navigator.type(event.data)

    @keys.add("backspace", filter=typing)
    def _(event: KeyPressEvent) -> None:
        navigator.rub_out()

    @keys.add("enter", filter=typing)
    def _(event: KeyPressEvent) -> None:
        navigator.accept()

    @keys.add("escape", filter=typing)
    @keys.add("c-c", filter=typing)
    def _(event: KeyPressEvent) -> None:
        navigator.cancel()

    @keys.add("down", filter=typing)
    @keys.add("c-n", filter=typing)
    def _(event: KeyPressEvent) -> None:
        navigator.again(1)

    @keys.add("up", filter=typing)
    @keys.add("c-p", filter=typing)
    def _(event: KeyPressEvent) -> None:
        navigator.again(-1)


def _add(keys: KeyBindings, key: str, when: Condition, action: Callable[[], None]) -> None:
    @keys.add(key, filter=when, eager=key != "escape")
    def _(event: KeyPressEvent) -> None:
        action()


def _add_end(keys: KeyBindings, key: str, when: Condition, decide: Callable[[], object]) -> None:
    @keys.add(key, filter=when, eager=key != "escape")
    def _(event: KeyPressEvent) -> None:
        event.app.exit(result=decide())
