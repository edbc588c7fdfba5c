"""What is on the screen's lower end, painted cheaply: the live tail, and the foot below it.

    final text     printed once, above everything here; belongs to the scrollback tail
    lines that still change (transcript.py); painted here, since they change all the time foot
    question, queue, editor, status; drawn by prompt_toolkit

Drawing the foot costs most, and a stream of text leaves it as it is. So what prompt_toolkit wrote
when it drew the foot from nothing is kept; as long as it draws nothing else, writing that again is
the same as drawing it (U02). Three things hold: `_above` is what stands above the foot; `_foot` is
what draws the foot as it stands, or empty where nobody knows; tail and foot together are never
higher than the window, so that no line of them scrolls into the history. In a window that became
narrower most terminals have wrapped these lines: they are as many rows as they take up now.
It knows no event and no session. Read next: screen.py, repl.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.layout import Layout
from prompt_toolkit.layout.screen import Screen
from prompt_toolkit.renderer import Renderer
from prompt_toolkit.styles import BaseStyle

from agentsh.ui.cells import cut_painted, painted_width
from agentsh.ui.screen import HeldOutput


class Painter(Renderer):
    """prompt_toolkit's renderer, that keeps some lines above what it draws.

    `tail` gives at most so many safe lines. What erases, draws or forgets the foot (a change of
    size, a view that takes the screen, the end) does so with the tail.
    """

    def __init__(
        self, style: BaseStyle, output: HeldOutput, tail: Callable[[int], list[str]]
    ) -> None:
        self._held = output
        self._tail = tail
        self._columns = output.get_size().columns
        """As wide as the window was when all was drawn."""
        self._above: list[str] = []
        self._foot = ""
        self._foot_rows = 1
        """What the foot asked for when it was drawn last."""
        self._from_nothing = True
        super().__init__(style, output)

    def show(self, text: str, draw: Callable[[], None], *, foot: bool) -> None:
        """Print what became final, and the tail as it is now; one write.

        Of a tail that only changed, what stays the same is left as it stands.

        `draw` has prompt_toolkit draw. `foot`: something in it may have changed.
        """
        lines = self._lines(self._foot_rows)
        is_resized = self._held.get_size().columns != self._columns
        with self._held.held():
            if not text and len(lines) == len(self._above) and not is_resized:
                self._replace(lines)
                if foot:
                    draw()
            elif foot or is_resized or not self._foot:
                self.erase()
                self._print(text)
                draw()
            else:
                unchanged = 0 if text else _common(lines, self._above)
                self._held.hide_cursor()
                self._rise(unchanged)
                self._held.erase_down()
                self._print(text)
                self._paint(lines[unchanged:])
                self._above = lines
                self._held.write_raw(self._foot)
                self._held.show_cursor()

    # ---- what prompt_toolkit calls --------------------------------------------------------------

    def reset(self, _scroll: bool = False, leave_alternate_screen: bool = True) -> None:
        self._above, self._foot, self._from_nothing = [], "", True
        super().reset(_scroll, leave_alternate_screen)

    def request_absolute_cursor_position(self) -> None:
        """Nothing: the terminal is never asked. What was typed ahead may have had the foot drawn
        before prompt_toolkit comes here, and its own would not have the cursor below the first row.
        """

    def erase(self, leave_alternate_screen: bool = True) -> None:
        self._held.cursor_up(self._rows_above() - self._cursor_pos.y)  # the rest it knows of
        super().erase(leave_alternate_screen)

    def render(self, app: Application[Any], layout: Layout, is_done: bool = False) -> None:
        size = self._held.get_size()
        self._foot_rows = layout.container.preferred_height(size.columns, size.rows).preferred
        with self._held.held():
            if self._foot_rows + len(self._above) > size.rows:
                self.erase()  # the foot grew: the tail is what makes room
            from_nothing, self._from_nothing = self._from_nothing, False
            if from_nothing:
                self._above = self._lines(self._foot_rows)
                self._paint(self._above)
            with self._held.recorded(taken=len(self._above)) as written:
                super().render(app, layout, is_done)
            self._foot = "".join(written) if from_nothing else ""
        self._columns = self._held.get_size().columns

    # ---- inside ---------------------------------------------------------------------------------

    def _lines(self, foot: int) -> list[str]:
        """The tail as it is now, as much as fits above a foot of so many rows."""
        size, drawn = self._held.get_size(), self.last_rendered_screen
        room = size.rows - max(1, foot if drawn is None else drawn.height)
        lines = self._tail(room) if room > 0 else []
        return [cut_painted(line, size.columns - 1).rstrip(" ") for line in lines]

    def _print(self, text: str) -> None:
        self._held.write_raw(text.replace("\n", "\r\n"))

    def _rise(self, to: int = 0) -> None:
        """From the cursor's place in the foot to the first cell of that row of the tail."""
        self._held.write_raw("\r")
        self._held.cursor_up(self._rows_above() - to)

    def _rows_above(self) -> int:
        """How far above the cursor the tail begins, in the window as it is now."""
        cursor = self._cursor_pos
        columns = self._held.get_size().columns
        if columns >= self._columns or not self._held.reflows:
            return len(self._above) + cursor.y
        drawn = self.last_rendered_screen
        widths = [painted_width(line) for line in self._above]
        widths += (
            [_width(drawn, y) for y in range(cursor.y)] if drawn is not None else [0] * cursor.y
        )
        return sum(max(1, -(-width // columns)) for width in widths) + cursor.x // columns

    def _paint(self, lines: list[str]) -> None:
        """From here on; leaves the cursor where the foot begins."""
        self._held.disable_autowrap()
        for line in lines:
            # the whole row first: tmux wraps what was once written in it along with the rest
            self._held.write_raw("\x1b[2K")
            self._held.write_raw(line)
            self._held.write_raw("\r\n")
        self._held.enable_autowrap()

    def _replace(self, lines: list[str]) -> None:
        """As many other lines in the tail's place: those are written that are not the same."""
        if lines == self._above:
            return
        first = _common(lines, self._above)
        last = len(lines) - _common(lines[::-1], self._above[::-1])
        self._held.hide_cursor()
        self._rise(first)
        self._paint(lines[first:last])
        self._above = lines
        self._held.cursor_down(len(lines) - last + self._cursor_pos.y)
        self._held.cursor_forward(self._cursor_pos.x)
        self._held.show_cursor()


def _common(some: list[str], others: list[str]) -> int:
    """How many are the same at the beginning."""
    count = 0
    for one, other in zip(some, others, strict=False):
        if one != other:
            break
        count += 1
    return count


def _width(screen: Screen, row: int) -> int:
    """Cells of a row of the foot, to the last that is not blank."""
    return max(
        (x + 1 for x, char in screen.data_buffer[row].items() if char.char != " "), default=0
    )
