"""The text of a draft, moved in and deleted from by what a person sees as one character.

prompt_toolkit counts code points. Here the cursor never stands inside a grapheme cluster (Unicode
Standard Annex 29): not after an arrow, a jump by words, a deletion, an insertion or an undo; and
what is deleted is whole clusters. It stands alone as what reaches into prompt_toolkit's buffer;
what the draft means is the editor's. Read next: agentsh/ui/cells.py, editor.py.
"""

from __future__ import annotations

from prompt_toolkit.buffer import Buffer

from agentsh.ui.cells import border


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
