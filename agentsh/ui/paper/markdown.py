"""Streamed Markdown cut into finished blocks: sans-IO, linear, with a bounded rest.

Text comes in any chunks; out come blocks in order, each exactly once, whose texts together are the
text (but for blank lines between them and the fence lines of code). A line is finished with its
end, unless a later one can change how it looks: a mark that is open, a line that may head a table.
What is finished at the end of a chunk is given; what is not is given whatever comes once it is
longer than a bound. So the rest stays small, and what is printed is the same however it is cut.

    paragraph, heading   prose     to a blank line, or to the start of another kind
    list item            item      to the next item; what is indented below it stands below it
    fenced code          code      to the closing fence
    table, quote         as named  to the first line that is none: given as a whole

It renders nothing and knows no terminal. Read next: render.py (block → text), transcript.py.
"""

from __future__ import annotations

import copy
import re
from typing import Literal, TypeAlias

from msgspec import Struct

from agentsh.ui.paper.inline import unclosed

BlockKind: TypeAlias = Literal["prose", "item", "code", "table", "quote"]

MAX_CHARS = 4000
_MAX_LINES = 60
TABLE_LINES = 200
TAB_STOP = 4
"""Columns, as CommonMark has it."""

_FENCE = re.compile(r"^( *)(`{3,}|~{3,})([^`]*)$")
_ITEM = re.compile(r"^( *)([-*+]|\d{1,9}[.)])( +|$)")
_HEADING = re.compile(r"^ {0,3}#{1,6}(?: |$)")
_RULE = re.compile(r"^ {0,3}([-*_])(?: *\1){2,} *$")
_QUOTE = re.compile(r"^ {0,3}>")
_ONLY_MARKS = re.compile(r"^[ #\-*+`~>|=_]*$")
_DELIMITER = re.compile(r"^ *\|? *:?-+:? *(?:\| *:?-+:? *)*\|? *$")


class Block(Struct, frozen=True):
    """One finished piece. `indent`: columns that it stands in from the left (in a list)."""

    kind: BlockKind
    text: str
    gap: bool = True
    """A blank line stands before it."""
    indent: int = 0
    language: str = ""
    continues: bool = False
    """It goes on with the block before: the same paragraph, item or piece of code."""


class _Fence(Struct, frozen=True):
    mark: str
    indent: int
    language: str

    def closes(self, line: str) -> bool:
        bare = line.strip()
        return len(bare) >= len(self.mark) and set(bare) == {self.mark[0]}


class BlockScanner:
    """Feed text, take blocks; `flush` at the end gives the rest."""

    def __init__(self) -> None:
        self._partial: list[str] = []
        self._partial_size = 0
        self._mid_line = False
        """The beginning of the line that comes was given already."""
        self._lines: list[str] = []
        self._size = 0
        self._given = False
        """Lines of the open block were given already."""
        self._kind: BlockKind = "prose"
        self._indent = 0
        self._fence: _Fence | None = None
        self._gap = True
        self._list_indent: int | None = None
        """Content column of the list that blank lines may not have ended; None outside lists."""
        self._done: list[Block] = []

    def feed(self, text: str) -> list[Block]:
        """Take a chunk; give what it finished."""
        *complete, unfinished = text.split("\n")
        for piece in complete:
            self._partial.append(piece)
            self._end_line()
        if unfinished:
            self._partial.append(unfinished)
            self._partial_size += len(unfinished)
            while self._partial_size > MAX_CHARS:
                text = "".join(self._partial)
                self._cut(text.rfind(" ", MAX_CHARS // 2, MAX_CHARS) + 1 or MAX_CHARS)
        if complete:
            self._give()
        return self._take()

    def flush(self) -> list[Block]:
        """The text is over: give what is left."""
        if self._partial:
            self._end_line()
        self._close()
        self._fence = None
        self._list_indent = None
        self._gap = True
        self._mid_line = False
        return self._take()

    def rest(self) -> str:
        """The unfinished text."""
        return "\n".join([*self._lines, "".join(self._partial)])

    def preview(self) -> list[Block]:
        """What `flush` would give now, for a live tail; what is open is closed for it."""
        if not self._partial and not self._lines:
            return []
        twin = copy.copy(self)
        line = "".join(self._partial)
        twin._lines, twin._partial, twin._done = list(self._lines), [line], []
        if self._fence is None:
            if not self._mid_line and _ONLY_MARKS.match(line):
                twin._partial = []  # nobody knows yet what it becomes
            elif _FENCE.match(line) is None and (closing := unclosed(line)):
                twin._partial.append("" if line.endswith(closing) else closing)
        return twin.flush()

    def growing(self) -> str:
        """The growing line if it is prose, of which a part may be final."""
        line = "".join(self._partial)
        if self._fence is not None or self._kind in ("table", "quote") or "|" in line:
            return ""
        if not self._mid_line and (_HEADING.match(line) or _QUOTE.match(line.lstrip(" "))):
            return ""
        return line

    def cut(self, position: int) -> list[Block]:
        """The beginning of the growing line is final, as if the line ended there."""
        self._cut(position)
        return self._take()

    # ---- one line ---------------------------------------------------------------------------

    def _end_line(self) -> None:
        line = "".join(self._partial)
        self._partial, self._partial_size = [], 0
        mid, self._mid_line = self._mid_line, False
        if "\t" in line:
            line = _without_tabs(line, self._fence)
        if self._fence is not None:
            self._code_line(line, self._fence)
        elif mid:
            if line:
                self._add(line)
        elif not line.strip():
            self._blank()
        elif (fence := _FENCE.match(line)) is not None:
            self._open_fence(fence)
        elif self._kind == "table" and self._lines:
            self._table_line(line)
        else:
            self._text_line(line)
        if len(self._lines) >= _MAX_LINES or self._size > MAX_CHARS:
            self._give(finished=self._kind != "table")

    def _code_line(self, line: str, fence: _Fence) -> None:
        if fence.closes(line):
            self._close(keep_empty=True)
            self._fence = None
            self._gap = True
            return
        self._add(_dedent(line, fence.indent))

    def _open_fence(self, match: re.Match[str]) -> None:
        self._close()
        indent = len(match[1]) if self._list_indent is not None or self._indent else 0
        self._fence = _Fence(match[2], len(match[1]), match[3].strip().split(" ")[0])
        self._start("code", indent)

    def _blank(self) -> None:
        self._close()
        self._gap = True

    def _table_line(self, line: str) -> None:
        if "|" not in line:
            self._close()
            self._text_line(line)
            return
        self._add(line)
        if len(self._lines) >= TABLE_LINES:
            head = self._lines[:2]
            self._close()
            self._gap = False
            self._start("table", self._indent)
            self._lines = head

    def _text_line(self, line: str) -> None:
        item = _ITEM.match(line)
        if item is not None and not _RULE.match(line) and self._starts_item(item):
            self._close()
            self._start("item", len(item[1]))
            self._list_indent = item.end() if item[3] else item.end() + 1
            self._add(line[len(item[1]) :])
        elif self._is_open:
            self._continue(line)
        else:
            self._begin(line)

    def _starts_item(self, item: re.Match[str]) -> bool:
        """In a list each marker does; a number in the middle of prose is prose."""
        if self._list_indent is not None:
            return True
        if self._kind == "prose" and self._is_open:
            return len(item[1]) <= 3 and (not item[2][0].isdigit() or item[2][:-1] == "1")
        return len(item[1]) <= 3

    def _begin(self, line: str) -> None:
        """The first line of a block that is no item."""
        leading = len(line) - len(line.lstrip(" "))
        if self._list_indent is not None and leading >= 2:
            self._begin_prose(line, min(leading, self._list_indent))
            return
        self._list_indent = None
        if leading >= 4:
            self._start("code", 0)
            self._add(line[4:])
            return
        self._begin_prose(line, 0)

    def _begin_prose(self, line: str, indent: int) -> None:
        bare = _dedent(line, indent)
        self._start("quote" if _QUOTE.match(bare) else "prose", indent)
        self._add(bare)
        if _HEADING.match(bare) or _RULE.match(bare):
            self._close()
            self._gap = False

    def _continue(self, line: str) -> None:
        """A later line of an open block."""
        if self._kind == "code":  # indented code
            if line.startswith("    "):
                self._add(line[4:])
            else:
                self._close()
                self._begin(line)
            return
        bare = _dedent(line, self._list_indent or self._indent)
        if self._breaks(bare):
            self._close()
            self._begin(line)
        elif self._kind != "quote" and self._lines and _heads(self._lines[-1], bare):
            self._to_table(bare)
        else:
            self._add(bare)

    def _breaks(self, bare: str) -> bool:
        """This line cannot belong to the open prose or quote."""
        if _HEADING.match(bare) or _RULE.match(bare):
            return True
        return self._kind != "quote" and _QUOTE.match(bare) is not None

    def _to_table(self, delimiter: str) -> None:
        header = self._lines.pop()
        indent = self._indent
        if self._kind == "item":  # its own line may head the table
            indent = self._list_indent or 0
        if self._is_open:
            self._close()
        self._start("table", indent)
        self._add(header)
        self._add(delimiter)

    # ---- the open block ---------------------------------------------------------------------

    @property
    def _is_open(self) -> bool:
        return bool(self._lines) or self._given

    def _start(self, kind: BlockKind, indent: int) -> None:
        self._kind, self._indent = kind, indent

    def _add(self, line: str) -> None:
        self._lines.append(line)
        self._size += len(line) + 1

    def _give(self, *, finished: bool = False) -> None:
        """Give the lines of the open block that no later one changes; `finished`: all."""
        count = len(self._lines)
        if not finished:
            if self._kind in ("table", "quote"):
                return
            if self._kind != "code":
                count -= bool(count) and "|" in self._lines[-1]
                if unclosed("\n".join(self._lines[:count])) is not None:
                    return
        if count:
            left = self._lines[count:]
            self._emit(self._lines[:count])
            self._lines, self._size = left, sum(len(line) + 1 for line in left)
            self._given, self._gap = True, False
            if self._kind == "item":  # what follows stands below its text
                self._start("prose", self._list_indent or 0)

    def _close(self, *, keep_empty: bool = False) -> None:
        if self._lines or (keep_empty and not self._given):
            self._emit(self._lines)
        self._lines, self._size, self._given = [], 0, False
        if self._fence is None:
            self._kind = "prose"

    def _emit(self, lines: list[str]) -> None:
        language = self._fence.language if self._fence is not None else ""
        text = "\n".join(lines)
        self._done.append(Block(self._kind, text, self._gap, self._indent, language, self._given))
        self._gap = False

    def _cut(self, position: int) -> None:
        """The line ends here, and goes on in a line of its own."""
        text = "".join(self._partial)
        self._partial = [text[:position].rstrip(" ") if self._fence is None else text[:position]]
        self._end_line()
        self._give(finished=True)
        self._partial, self._partial_size = [text[position:]], len(text) - position
        self._mid_line = self._fence is None

    def _take(self) -> list[Block]:
        done, self._done = self._done, []
        return done


def _heads(header: str, delimiter: str) -> bool:
    """These two lines begin a table."""
    return "|" in header and "-" in delimiter and _DELIMITER.match(delimiter) is not None


def _without_tabs(line: str, fence: _Fence | None) -> str:
    """Tabs as the blanks that they stand for; in code those that the fence stands in by, too."""
    if fence is None:
        return line.expandtabs(TAB_STOP)
    bare = line.lstrip(" \t") if fence.indent else line
    return line[: len(line) - len(bare)].expandtabs(TAB_STOP) + bare


def _dedent(line: str, columns: int) -> str:
    leading = len(line) - len(line.lstrip(" "))
    return line[min(columns, leading) :]
