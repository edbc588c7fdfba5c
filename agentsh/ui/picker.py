"""Pick one of many lines: sessions, models, labels. A search that narrows as one types.

Work per key is one pass over the rows' texts; drawing is bounded by the screen.
Read next: fullscreen.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import Output

from agentsh.ui.face import SessionRow
from agentsh.ui.fullscreen import fullscreen
from agentsh.ui.sanitize import first_line, safe_line
from agentsh.ui.terminal import Terminal
from agentsh.ui.theme import Theme


class PickRow(Struct, frozen=True):
    """`text` and `detail` are safe lines; `value` is what picking gives."""

    text: str
    detail: str
    value: str


def session_rows(rows: Iterable[SessionRow]) -> list[PickRow]:
    """Sessions as rows: name or first prompt, when last used, how long."""
    return [
        PickRow(
            safe_line(row.name or first_line(row.prompt or "") or "(empty)", 100),
            f"{row.updated[:16].replace('T', ' ')}  {row.messages} messages",
            row.id,
        )
        for row in rows
    ]


class Picker:
    """What the picker shows and does, without a terminal."""

    def __init__(self, title: str, rows: Sequence[PickRow]) -> None:
        self._title = title
        self._all = tuple(rows)
        self._texts = tuple(f"{r.text} {r.detail} {r.value}".lower() for r in rows)
        self.typed = ""
        self.shown: tuple[PickRow, ...] = self._all
        self.cursor = 0
        self.height = 10

    def type(self, text: str) -> None:
        self._narrow(self.typed + text)

    def rub_out(self) -> None:
        self._narrow(self.typed[:-1])

    def move(self, steps: int) -> None:
        self.cursor = max(0, min(len(self.shown) - 1, self.cursor + steps))

    @property
    def current(self) -> str | None:
        return self.shown[self.cursor].value if self.shown else None

    def draw(self, columns: int, rows: int) -> StyleAndTextTuples:
        self.height = max(1, rows - 3)
        title = f"{self._title}: {len(self.shown)} of {len(self._all)}; type to search"
        out: StyleAndTextTuples = [("class:tree.bar", title[: columns - 1]), ("", "\n")]
        top = max(0, min(self.cursor - self.height // 2, len(self.shown) - self.height))
        for number in range(top, min(top + self.height, len(self.shown))):
            row = self.shown[number]
            style = "class:tree.cursor" if number == self.cursor else ""
            out.append((style, f"{row.text}  {row.detail}"[: 2 * columns] + "\n"))
        out.append(("class:tree.bar", f"> {self.typed}   Enter picks, Esc leaves"[: columns - 1]))
        return out

    def _narrow(self, typed: str) -> None:
        """Every word that was typed must be in the row."""
        self.typed = typed
        words = typed.lower().split()
        self.shown = tuple(
            row
            for row, text in zip(self._all, self._texts, strict=True)
            if all(word in text for word in words)
        )
        self.cursor = 0


def pick(
    title: str,
    rows: Sequence[PickRow],
    terminal: Terminal,
    theme: Theme,
    *,
    keyboard_input: Input | None = None,
    output: Output | None = None,
) -> str | None:
    """The value of the row that was picked; None: left without."""
    picker = Picker(title, rows)
    app = fullscreen(
        lambda: picker.draw(*terminal.size),
        _keys(picker),
        terminal,
        theme,
        result_type=str,
        keyboard_input=keyboard_input,
        output=output,
    )
    return app.run() or None


def _keys(picker: Picker) -> KeyBindings:
    keys = KeyBindings()

    @keys.add(Keys.Any)
    @keys.add(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        if event.data.isprintable():
            picker.type(event.data)

    @keys.add("backspace")
    def _(event: KeyPressEvent) -> None:
        picker.rub_out()

    moves = {"up": -1, "down": 1, "c-p": -1, "c-n": 1, "home": -(10**9), "end": 10**9}
    for key, steps in moves.items():
        _add_move(keys, key, picker, steps)

    @keys.add("pageup")
    def _(event: KeyPressEvent) -> None:
        picker.move(-picker.height)

    @keys.add("pagedown")
    def _(event: KeyPressEvent) -> None:
        picker.move(picker.height)

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        event.app.exit(result=picker.current or "")

    @keys.add("escape")
    @keys.add("c-c")
    @keys.add("c-d")
    def _(event: KeyPressEvent) -> None:
        event.app.exit(result="")

    return keys


def _add_move(keys: KeyBindings, key: str, picker: Picker, steps: int) -> None:
    @keys.add(key)
    def _(event: KeyPressEvent) -> None:
        picker.move(steps)
