"""Reading something long: pages of lines in the alternate screen, with a search. Writes nothing.

`Reader` is what is shown and does, without a terminal; `read_pages` runs it. Work per key is
bounded by the screen and the page. Read next: shelf.py, fullscreen.py, navigator.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prompt_toolkit.filters import Condition, Filter
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import Output

from agentsh.ui.cells import fitting, wrapped
from agentsh.ui.fullscreen import fullscreen
from agentsh.ui.pages import Line, Page
from agentsh.ui.terminal import Terminal
from agentsh.ui.theme import Theme

KEYS: tuple[tuple[str, str], ...] = (
    ("Up Down PgUp PgDn Home End", "scroll"),
    ("Left, Right", "the one before, the one after"),
    ("/ n N", "search, next hit, previous hit"),
    ("y", "copy all of it"),
    ("Esc, q", "back to the chat"),
)


class Reader:
    """One of several pages, scrolled."""

    def __init__(self, pages: Sequence[Page], copy: Callable[[str], None] | None = None) -> None:
        self._pages = tuple(pages)
        self._copy = copy
        self.at = len(self._pages) - 1
        self.top = 0
        self.rows = 20
        self.searching = False
        self.found = ""
        self.message = ""
        self._width = 80
        self._lines = self._load()
        self._wrapped: list[Line] = []
        self._wrapped_for = (0, 0)

    def turn(self, pages: int) -> None:
        """So many pages on; back where negative."""
        at = max(0, min(len(self._pages) - 1, self.at + pages))
        if at != self.at:
            self.at, self.top, self.message = at, 0, ""
            self._lines = self._load()
            self._wrapped_for = (0, 0)

    def scroll(self, rows: int) -> None:
        last = max(0, len(self._shown()) - self.rows)
        self.top = max(0, min(last, self.top + rows))

    def type(self, text: str) -> None:
        self.found += text
        self.find(0)

    def rub_out(self) -> None:
        self.found = self.found[:-1]

    def find(self, step: int) -> None:
        """The next line that holds what was typed, around the end."""
        lines, wanted = self._shown(), self.found.lower()
        if not wanted or not lines:
            return
        for away in range(len(lines)):
            line = (self.top + step + (away if step >= 0 else -away)) % len(lines)
            if wanted in lines[line].text.lower():
                self.top, self.message = line, ""
                return
        self.message = "no hit"

    def copy(self) -> None:
        if self._copy is not None:
            self._copy("\n".join(line.text for line in self._lines))
            self.message = "copied, where the terminal allows it"

    def draw(self, columns: int, rows: int) -> StyleAndTextTuples:
        self.rows, self._width = max(1, rows - 2), columns - 1
        page = self._pages[self.at]
        title = f"{self.at + 1}/{len(self._pages)}  {page.title}"
        out: StyleAndTextTuples = [("class:tree.bar", title[: columns - 1].ljust(columns - 1))]
        out.append(("", "\n"))
        shown = self._shown()
        for line in shown[self.top : self.top + self.rows]:
            hit = bool(self.found) and self.found.lower() in line.text.lower()
            out.append(("class:tree.hit" if hit else f"class:{line.role}", line.text))
            out.append(("", "\n"))
        left = len(shown) - self.top - self.rows
        out.append(("", "\n" * max(0, self.rows - (len(shown) - self.top))))
        out.append(("class:tree.bar", fitting(self._footers(left), columns - 1)))
        return out

    def _footers(self, left: int) -> list[str]:
        if self.searching:
            return [f"/{self.found}  {self.message}"]
        if self.message:
            return [self.message]
        more = f"{left} more lines · " if left > 0 else ""
        keys = ["Left Right other ones", "/ search", "y copy"]
        ways = [" · ".join([*keys[:count], "q back"]) for count in range(len(keys), -1, -1)]
        return [*(more + way for way in ways), "q back"]

    def _load(self) -> list[Line]:
        return self._pages[self.at].lines() if self._pages else []

    def _shown(self) -> list[Line]:
        key = (self.at + 1, self._width)
        if self._wrapped_for != key:
            self._wrapped = [
                Line(piece, line.role)
                for line in self._lines
                for piece in wrapped(line.text, self._width)
            ]
            self._wrapped_for = key
        return self._wrapped


def read_pages(
    pages: Sequence[Page],
    terminal: Terminal,
    theme: Theme,
    *,
    copy: Callable[[str], None] | None = None,
    keyboard_input: Input | None = None,
    output: Output | None = None,
) -> None:
    """Show the last page, until the person goes back."""
    reader = Reader(pages, copy)
    fullscreen(
        lambda: reader.draw(*terminal.size),
        reader_keys(reader),
        terminal,
        theme,
        result_type=object,
        keyboard_input=keyboard_input,
        output=output,
    ).run()


def reader_keys(reader: Reader) -> KeyBindings:
    keys = KeyBindings()
    typing = Condition(lambda: reader.searching)
    for key, action in _moves(reader).items():
        _add(keys, key, ~typing, action)

    @keys.add(Keys.Any, filter=typing)
    @keys.add(Keys.BracketedPaste, filter=typing)
    def _(event: KeyPressEvent) -> None:
        if event.data.isprintable():
            reader.type(event.data)

    @keys.add("backspace", filter=typing)
    def _(event: KeyPressEvent) -> None:
        reader.rub_out()

    @keys.add("enter", filter=typing)
    @keys.add("escape", filter=typing)
    @keys.add("c-c", filter=typing)
    def _(event: KeyPressEvent) -> None:
        reader.searching = False

    @keys.add("escape", filter=~typing)
    @keys.add("q", filter=~typing)
    @keys.add("c-c", filter=~typing)
    @keys.add("c-d", filter=~typing)
    @keys.add("c-o", filter=~typing)
    @keys.add("c-t", filter=~typing)
    def _(event: KeyPressEvent) -> None:
        event.app.exit(result=None)

    return keys


def _moves(reader: Reader) -> dict[str, Callable[[], None]]:
    def search() -> None:
        reader.searching, reader.found = True, ""

    return {
        "up": lambda: reader.scroll(-1),
        "k": lambda: reader.scroll(-1),
        "down": lambda: reader.scroll(1),
        "j": lambda: reader.scroll(1),
        "pageup": lambda: reader.scroll(-reader.rows),
        "pagedown": lambda: reader.scroll(reader.rows),
        " ": lambda: reader.scroll(reader.rows),
        "home": lambda: reader.scroll(-(10**9)),
        "end": lambda: reader.scroll(10**9),
        "left": lambda: reader.turn(-1),
        "right": lambda: reader.turn(1),
        "/": search,
        "n": lambda: reader.find(1),
        "N": lambda: reader.find(-1),
        "y": reader.copy,
    }


def _add(keys: KeyBindings, key: str, when: Filter, action: Callable[[], None]) -> None:
    @keys.add(key, filter=when)
    def _(event: KeyPressEvent) -> None:
        action()
