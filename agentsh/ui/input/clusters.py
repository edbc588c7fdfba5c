"""The text of a draft, moved in and deleted from by what a person sees: characters and rows.

prompt_toolkit counts code points. Here the cursor never stands inside a grapheme cluster (Unicode
Standard Annex 29): not after an arrow, a jump by words, a deletion, an insertion or an undo; and
what is deleted is whole clusters. Up and down go by the rows that a line is drawn in (cells.py)
and keep to the column (U24). It stands alone as what reaches into prompt_toolkit's buffer; what the
draft means is the editor's. Read next: agentsh/ui/cells.py, editor.py.
"""

from __future__ import annotations

from bisect import bisect_right

from msgspec import Struct
from prompt_toolkit.buffer import Buffer

from agentsh.ui.cells import border, rows_of, width_of

_TAB = 8


class RowWidths(Struct, frozen=True):
    """Cells that the first row of the text has, and each other one."""

    first: int
    other: int


class ClusterBuffer(Buffer):
    """prompt_toolkit's buffer, whose cursor is on the border of a cluster (U18)."""

    def cursor_left(self, count: int = 1) -> None:
        """By clusters, and not beyond the line."""
        for _ in range(-count):
            super().cursor_right()
        for _ in range(count):
            super().cursor_left()

    def cursor_right(self, count: int = 1) -> None:
        self.cursor_left(-count)

    def delete_before_cursor(self, count: int = 1) -> str:
        """So many code points, and what else is of the first one's cluster."""
        start = border(self.text, self.cursor_position - count, back=True)
        return super().delete_before_cursor(self.cursor_position - start)

    def delete(self, count: int = 1) -> str:
        """So many code points, and what else is of the last one's cluster."""
        end = border(self.text, self.cursor_position + count, back=False)
        deleted = super().delete(end - self.cursor_position)
        self.cursor_position += 0  # what is now beside each other may be one
        return deleted

    def _set_cursor_position(self, value: int) -> bool:
        is_back = value < self.cursor_position
        return super()._set_cursor_position(border(self.text, value, back=is_back))

    def row_up(self, widths: RowWidths) -> bool:
        """To the row above; False: there is none."""
        return self._to_row(widths, -1)

    def row_down(self, widths: RowWidths) -> bool:
        """To the row below; False: there is none."""
        return self._to_row(widths, 1)

    def has_rows(self, widths: RowWidths) -> bool:
        """There is more than one."""
        return self.document.line_count > 1 or len(_Line(self.text, widths, 0).rows) > 1

    def _to_row(self, widths: RowWidths, step: int) -> bool:
        document = self.document
        number, column = document.cursor_position_row, document.cursor_position_col
        line = _Line(document.lines[number], widths, number)
        row = line.row_of(column)
        aim = self._aim[1] if self._aim[0] == self.cursor_position else line.cells(row, column)
        row += step
        if not 0 <= row < len(line.rows):
            number += step
            if not 0 <= number < document.line_count:
                return False
            line = _Line(document.lines[number], widths, number)
            row = 0 if step > 0 else len(line.rows) - 1
        self.cursor_position = document.translate_row_col_to_index(number, line.column(row, aim))
        self._aim = (self.cursor_position, aim)
        return True

    _aim: tuple[int, int] = (-1, 0)
    """Where the last move by rows ended, and the cell that it aimed at."""


class _Line:
    """One line of a text as it is drawn: tabs are blanks, and it may have several rows."""

    def __init__(self, text: str, widths: RowWidths, number: int) -> None:
        self._places = [0]
        for char in text:
            last = self._places[-1]
            self._places.append(last + (_TAB - last % _TAB if char == "\t" else 1))
        self._shown = text.expandtabs(_TAB)
        self.rows = rows_of(self._shown, widths.other if number else widths.first, widths.other)

    def row_of(self, column: int) -> int:
        starts = [start for start, _ in self.rows]
        return bisect_right(starts, self._places[column]) - 1

    def cells(self, row: int, column: int) -> int:
        return width_of(self._shown[self.rows[row][0] : self._places[column]])

    def column(self, row: int, cells: int) -> int:
        """The place in the text that is nearest to this cell of the row, and in it."""
        start, stop = self.rows[row]
        if row + 1 < len(self.rows) and self.rows[row + 1][0] == stop:
            stop -= 1  # what follows at once begins the next row
        index = start
        while index < stop and width_of(self._shown[start : index + 1]) <= cells:
            index += 1
        return bisect_right(self._places, index) - 1
