"""Reading something long: pages of lines in the alternate screen, with a search. Writes nothing.

`Reader` is what is shown and does, without a terminal; `read_pages` runs it. Work per key is
bounded by the screen and the page. Read next: shelf.py, fullscreen.py, navigator.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings

from agentsh.ui.cells import fitting, without_last
from agentsh.ui.fullscreen import Screen, bind, bind_end, bind_typing, fullscreen
from agentsh.ui.paper.pages import Lay, Page, PageLine, plain_page_lines
from agentsh.ui.paper.rows import Styled, rows, text_of, toolkit_spans

READER_KEYS: tuple[tuple[str, str], ...] = (
    ("Up Down PgUp PgDn Home End", "scroll"),
    ("Left, Right", "the one before, the one after"),
    ("/ n N", "search, next hit, previous hit"),
    ("y", "copy all of it"),
    ("Esc, q", "back to the chat"),
)


class Reader:
    """One of several pages, scrolled."""

    def __init__(
        self,
        pages: Sequence[Page],
        copy: Callable[[str], str] | None = None,
        lay: Lay = plain_page_lines,
    ) -> None:
        self._pages = tuple(pages)
        self._lay = lay
        self._copy = copy
        self.at = len(self._pages) - 1
        self.top = 0
        self.rows = 20
        self.searching = False
        self.found = ""
        self.message = ""
        self._width = 80
        self._lines = self._load()
        self._wrapped: list[list[Styled]] = []
        self._wrapped_for = (0, 0)

    def turn(self, pages: int) -> None:
        """So many pages on; back where negative."""
        page = max(0, min(len(self._pages) - 1, self.at + pages))
        if page != self.at:
            self.at, self.top, self.message = page, 0, ""
            self._lines = self._load()
            self._wrapped_for = (0, 0)

    def scroll(self, rows: int) -> None:
        last = max(0, len(self._shown()) - self.rows)
        self.top = max(0, min(last, self.top + rows))

    def start_typing(self) -> None:
        self.searching, self.found = True, ""

    def stop_typing(self) -> None:
        self.searching = False

    def type(self, text: str) -> None:
        self.found += text
        self.find(0)

    def rub_out(self) -> None:
        self.found = without_last(self.found)

    def find(self, step: int) -> None:
        """The next line that holds what was typed, around the end."""
        lines, sought = self._shown(), self.found.lower()
        if not sought or not lines:
            return
        for away in range(len(lines)):
            line = (self.top + step + (away if step >= 0 else -away)) % len(lines)
            if sought in text_of(lines[line]).lower():
                self.top, self.message = line, ""
                return
        self.message = "no hit"

    def copy(self) -> None:
        if self._copy is not None:
            self.message = self._copy("\n".join(line.text for line in self._lines))

    def draw(self, columns: int, rows: int) -> StyleAndTextTuples:
        self.rows, self._width = max(1, rows - 2), columns - 1
        page = self._pages[self.at]
        count = f"{self.at + 1}/{len(self._pages)}  " if len(self._pages) > 1 else ""
        title = f"{count}{page.title}"
        out: StyleAndTextTuples = [("class:tree.bar", title[: columns - 1].ljust(columns - 1))]
        out.append(("", "\n"))
        shown = self._shown()
        for line in shown[self.top : self.top + self.rows]:
            text = text_of(line)
            hit = bool(self.found) and self.found.lower() in text.lower()
            out += [("class:tree.hit", text)] if hit else toolkit_spans(line)
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
        others = ["Left Right other ones"] if len(self._pages) > 1 else []
        keys = [*others, "/ search", "y copy"]
        ways = [" · ".join([*keys[:count], "q back"]) for count in range(len(keys), -1, -1)]
        return [*(more + way for way in ways), "q back"]

    def _load(self) -> list[PageLine]:
        return self._pages[self.at].lines() if self._pages else []

    def _shown(self) -> list[list[Styled]]:
        key = (self.at + 1, self._width)
        if self._wrapped_for != key:
            self._wrapped = [
                row
                for spans, hang in self._lay(self._lines)
                for row in rows(spans, self._width, hang)
            ]
            self._wrapped_for = key
        return self._wrapped


def read_pages(
    pages: Sequence[Page],
    screen: Screen,
    *,
    copy: Callable[[str], str] | None = None,
    lay: Lay = plain_page_lines,
) -> None:
    """Show the last page, until the person goes back."""
    reader = Reader(pages, copy, lay)
    fullscreen(reader.draw, reader_keys(reader), screen, result_type=object).run()


def reader_keys(reader: Reader) -> KeyBindings:
    keys = KeyBindings()
    typing = Condition(lambda: reader.searching)
    bind_typing(keys, reader.type, typing)
    ways_out = dict.fromkeys(("enter", "escape", "c-c"), reader.stop_typing)
    bind(keys, {"backspace": reader.rub_out, "c-w": reader.rub_out, **ways_out}, typing)
    bind(keys, _moves(reader), ~typing)
    back = ("escape", "q", "c-c", "c-d", "c-o", "c-t")
    bind_end(keys, dict.fromkeys(back, lambda: None), ~typing)
    return keys


def _moves(reader: Reader) -> dict[str, Callable[[], None]]:
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
        "/": reader.start_typing,
        "n": lambda: reader.find(1),
        "N": lambda: reader.find(-1),
        "y": reader.copy,
    }
