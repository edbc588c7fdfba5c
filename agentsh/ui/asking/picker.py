"""Pick one of many lines: a search that narrows as one types, and a few commands on the rows.

Work per key is one pass over the rows' texts; drawing is bounded by the screen. What the rows are,
and what commands do to them, is pickers.py's. Read next: pickers.py, fullscreen.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec import Struct
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent

from agentsh.errors import AgentshError
from agentsh.sanitize import safe_line
from agentsh.ui.cells import cut, fitting, width_of, without_last
from agentsh.ui.fullscreen import Screen, bind, bind_typing, fullscreen

TEXT_CELLS = 40
"""What shorter texts take as well, so that details do not stand far from them."""
TEXT_SHARE = 58
"""Of a hundred cells, what texts may take although details are then cut."""


class PickRow(Struct, frozen=True):
    """`text` and `detail` are safe lines; `value` is what picking gives.

    Columns of the detail have two blanks between them, and stand in the order of their weight: a
    narrow window leaves out the last ones.
    """

    text: str
    detail: str
    value: str


class PickCommand(Struct, frozen=True):
    """A key of its own in a picker. `words` say what it does; `run` gets the picker."""

    words: str
    run: Callable[[Picker], None]


class Picker:
    """What the picker shows and does, without a terminal."""

    def __init__(self, title: str, rows: Sequence[PickRow]) -> None:
        self.typed = ""
        self.cursor = 0
        self.height = 10
        self.message = ""
        self._asked: tuple[str, str, Callable[[str], None]] | None = None
        self.show(title, rows)

    def show(self, title: str, rows: Sequence[PickRow], value: str | None = None) -> None:
        """Show these rows from now on, narrowed by what is typed. The cursor stands on `value`."""
        self._title = title
        self._all = tuple(rows)
        self._texts = tuple(f"{r.text} {r.detail} {r.value}".lower() for r in rows)
        self._widest = max((width_of(row.detail) for row in self._all), default=0)
        self._longest = max((width_of(row.text) for row in self._all), default=0)
        self._narrow(self.typed)
        self.cursor = next((n for n, row in enumerate(self.shown) if row.value == value), 0)

    # ---- what keys do ---------------------------------------------------------------------------

    def type(self, text: str) -> None:
        self.message = ""
        if self._asked is not None:
            mark, typed, done = self._asked
            self._asked = (mark, typed + text, done)
        else:
            self._narrow(self.typed + text)

    def rub_out(self) -> None:
        if self._asked is not None:
            mark, typed, done = self._asked
            self._asked = (mark, without_last(typed), done)
        else:
            self._narrow(without_last(self.typed))

    def move(self, steps: int) -> None:
        self.cursor = max(0, min(len(self.shown) - 1, self.cursor + steps))

    def ask(self, mark: str, text: str, done: Callable[[str], None]) -> None:
        """Let the person type something about the current row."""
        self._asked = (mark, text, done)

    @property
    def is_asking(self) -> bool:
        return self._asked is not None

    def accept(self) -> bool:
        """Enter: True where it picks, False where it ended a question."""
        if self._asked is None:
            return True
        _, typed, done = self._asked
        self._asked = None
        self.guarded(lambda: done(typed))
        return False

    def cancel(self) -> bool:
        """Esc: True where it leaves."""
        asked, self._asked = self._asked, None
        return asked is None

    def run(self, command: PickCommand) -> None:
        """A command's key; while a question is open what is typed is its answer, the rows stay."""
        if not self.is_asking:
            self.guarded(partial(command.run, self))

    def guarded(self, action: Callable[[], None]) -> None:
        """What goes wrong is said in the last line."""
        try:
            action()
        except AgentshError as e:
            self.message = safe_line(str(e))

    @property
    def current(self) -> str | None:
        return self.shown[self.cursor].value if self.shown else None

    # ---- drawing --------------------------------------------------------------------------------

    def draw(self, columns: int, rows: int, commands: Sequence[str] = ()) -> StyleAndTextTuples:
        self.height = max(1, rows - 3)
        title = f"{self._title}: {len(self.shown)} of {len(self._all)}; type to search"
        out: StyleAndTextTuples = [
            ("class:tree.bar", title[: columns - 1].ljust(columns - 1)),
            ("", "\n"),
        ]
        top = max(0, min(self.cursor - self.height // 2, len(self.shown) - self.height))
        for number in range(top, min(top + self.height, len(self.shown))):
            row = self.shown[number]
            style = "class:tree.cursor" if number == self.cursor else ""
            room = self._text_room(columns - 1)
            text = cut(row.text, room)
            out.append((style, text + " " * (room - width_of(text) if row.detail else 0)))
            detail = fewer_columns(row.detail, columns - 1 - room - 2)
            out.append((style or "class:quiet", f"  {detail}"))
            out.append(("", "\n"))
        out.append(("class:tree.bar", self._footer(commands, columns - 1)))
        return out

    def _text_room(self, width: int) -> int:
        """Cells of the texts: what the details leave, and so much that rows are told apart."""
        if not self._widest:
            return width
        needed = min(self._longest, width * TEXT_SHARE // 100)
        left = min(width - self._widest - 2, max(self._longest, TEXT_CELLS))
        return max(left, needed, 10)

    def _footer(self, commands: Sequence[str], width: int) -> str:
        """As many of the commands as there is room for, and the way out."""
        if self._asked is not None:
            return cut(f"{self._asked[0]}{self._asked[1]}", width)
        if self.message:
            return cut(self.message, width)
        ways = [
            " · ".join([f"> {self.typed}   Enter picks", *commands[:count], "Esc leaves"])
            for count in range(len(commands), -1, -1)
        ]
        return fitting([*ways, f"> {self.typed}"], width)

    def _narrow(self, typed: str) -> None:
        """Every word that was typed must be in the row."""
        self.typed = typed
        typed_words = typed.lower().split()
        self.shown = tuple(
            row
            for row, text in zip(self._all, self._texts, strict=True)
            if all(word in text for word in typed_words)
        )
        self.cursor = 0


def fewer_columns(detail: str, width: int) -> str:
    """As many whole columns of it as fit; of the first as much as does. Pure."""
    while width_of(detail.rstrip()) > width:
        rest, gap, _ = detail.rstrip().rpartition("  ")
        if not gap:
            return cut(detail, width - 1) + "…"
        detail = rest
    return detail


def pick_row(
    title: str,
    rows: Sequence[PickRow],
    screen: Screen,
    *,
    commands: Mapping[str, PickCommand] | None = None,
    value: str | None = None,
    typed: str = "",
) -> str | None:
    """The value of the row that was picked; None: left without."""
    picker = Picker(title, rows)
    if value is not None:
        picker.show(title, rows, value)
    if typed:
        picker.type(typed)
    commands = commands or {}
    command_words = [command.words for command in commands.values()]
    keys = picker_keys(picker, commands)
    draw = partial(picker.draw, commands=command_words)
    return fullscreen(draw, keys, screen, result_type=str).run() or None


def picker_keys(picker: Picker, commands: Mapping[str, PickCommand]) -> KeyBindings:
    keys = KeyBindings()
    bind_typing(keys, picker.type)
    moves = {"up": -1, "down": 1, "c-p": -1, "c-n": 1, "home": -(10**9), "end": 10**9}
    bind(keys, {key: partial(picker.move, steps) for key, steps in moves.items()})
    bind(keys, {key: partial(picker.run, command) for key, command in commands.items()})
    bind(
        keys,
        {
            "backspace": picker.rub_out,
            "c-w": picker.rub_out,
            "pageup": lambda: picker.move(-picker.height),
            "pagedown": lambda: picker.move(picker.height),
        },
    )

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        if picker.accept():
            event.app.exit(result=picker.current or "")

    @keys.add("escape")
    @keys.add("c-c")
    @keys.add("c-d")
    def _(event: KeyPressEvent) -> None:
        if picker.cancel():
            event.app.exit(result="")

    return keys
