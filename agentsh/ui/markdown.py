"""Streamed Markdown cut into finished blocks: sans-IO, linear, with a bounded rest.

Text comes in any chunks; out come blocks in order, each exactly once, whose texts together are the
text (but for blank lines between them and the fence lines of code). A block is finished as soon as
no later text can change how it looks; one that grows past a bound is cut at a line's end, so that
the unfinished rest stays small whatever a model writes. Work is one pass over the lines.

    paragraph, heading   prose     to a blank line, or to the start of another kind
    list item            item      to the next item; what is indented below it belongs to it
    fenced code          code      in pieces of CODE_LINES, `head` and `tail` mark first and last
    table, quote         as named  to the first line that is none

It renders nothing and knows no terminal. Read next: render.py (block → text), live.py.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from msgspec import Struct

Kind: TypeAlias = Literal["prose", "item", "code", "table", "quote"]

MAX_CHARS = 4000
MAX_LINES = 60
CODE_LINES = 40
TABLE_LINES = 200

_FENCE = re.compile(r"^( *)(`{3,}|~{3,})([^`]*)$")
_ITEM = re.compile(r"^( *)([-*+]|\d{1,9}[.)])( +|$)")
_HEADING = re.compile(r"^ {0,3}#{1,6}(?: |$)")
_RULE = re.compile(r"^ {0,3}([-*_])(?: *\1){2,} *$")
_SETEXT = re.compile(r"^ {0,3}(?:=+|-+) *$")
_QUOTE = re.compile(r"^ {0,3}>")
_DELIMITER = re.compile(r"^ *\|? *:?-+:? *(?:\| *:?-+:? *)*\|? *$")


class Block(Struct, frozen=True):
    """One finished piece. `indent`: columns that it stands in from the left (below a list item)."""

    kind: Kind
    text: str
    gap: bool = True
    """A blank line stands before it."""
    indent: int = 0
    language: str = ""


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
        self._lines: list[str] = []
        self._size = 0
        self._kind: Kind = "prose"
        self._indent = 0
        self._fence: _Fence | None = None
        self._gap = True
        self._list_indent: int | None = None
        """Content column of the list that blank lines may not have ended; None outside lists."""
        self._done: list[Block] = []

    def feed(self, text: str) -> list[Block]:
        """Take a chunk; give what it finished."""
        *complete, rest = text.split("\n")
        for piece in complete:
            self._partial.append(piece)
            self._line("".join(self._partial))
            self._partial, self._partial_size = [], 0
        if rest:
            self._partial.append(rest)
            self._partial_size += len(rest)
            if self._partial_size > MAX_CHARS:
                self._cut_partial()
        return self._take()

    def flush(self) -> list[Block]:
        """The text is over: give what is left."""
        if self._partial:
            line = "".join(self._partial)
            self._partial, self._partial_size = [], 0
            self._line(line)
        self._close()
        self._fence = None
        self._list_indent = None
        self._gap = True
        return self._take()

    def rest(self, limit: int = MAX_CHARS) -> str:
        """The unfinished text, its last `limit` characters: for a live tail."""
        parts: list[str] = []
        size = 0
        for piece in reversed(self._partial):
            parts.append(piece)
            size += len(piece)
        for line in reversed(self._lines):
            if size > limit:
                break
            parts.append(line + "\n")
            size += len(line) + 1
        return "".join(reversed(parts))[-limit:]

    # ---- one line ---------------------------------------------------------------------------

    def _line(self, line: str) -> None:
        if self._fence is not None:
            self._code_line(line, self._fence)
        elif not line.strip():
            self._blank()
        elif (fence := _FENCE.match(line)) is not None:
            self._open_fence(fence)
        elif self._kind == "table" and self._lines:
            self._table_line(line)
        else:
            self._text_line(line)

    def _code_line(self, line: str, fence: _Fence) -> None:
        if fence.closes(line):
            self._close(keep_empty=True)
            self._fence = None
            self._gap = True
            return
        self._add(_dedent(line, fence.indent))
        if len(self._lines) >= CODE_LINES or self._size > MAX_CHARS:
            self._close()
            self._gap = False

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
        elif self._lines:
            self._continue(line)
        else:
            self._begin(line)
        if len(self._lines) >= MAX_LINES or self._size > MAX_CHARS:
            self._close()
            self._gap = False

    def _starts_item(self, item: re.Match[str]) -> bool:
        """A nested item belongs to the open one; a number in the middle of prose is prose."""
        if self._kind == "item" and self._lines:
            return len(item[1]) < (self._list_indent or 0)
        if self._kind == "prose" and self._lines:
            return len(item[1]) <= 3 and (not item[2][0].isdigit() or item[2][:-1] == "1")
        return len(item[1]) <= 3 or self._list_indent is not None

    def _begin(self, line: str) -> None:
        """The first line of a block that is no item."""
        leading = len(line) - len(line.lstrip(" "))
        if self._list_indent is not None and leading >= 2:
            indent = min(leading, self._list_indent)
            self._start("prose", indent)
            self._add(_dedent(line, indent))
            return
        self._list_indent = None
        if leading >= 4:
            self._start("code", 0)
            self._add(line[4:])
            return
        self._start("quote" if _QUOTE.match(line) else "prose", 0)
        self._add(line)
        if _HEADING.match(line) or _RULE.match(line):
            self._close()
            self._gap = False

    def _continue(self, line: str) -> None:
        """A later line of an open block."""
        if self._kind == "item":
            self._add(_dedent(line, self._indent))
            return
        if self._kind == "code":  # indented code
            if line.startswith("    "):
                self._add(line[4:])
            else:
                self._close()
                self._begin(line)
            return
        bare = _dedent(line, self._indent)
        if self._kind == "prose" and _SETEXT.match(bare):
            self._add(bare)
            self._close()
        elif self._breaks(bare):
            self._close()
            self._begin(line)
        elif self._kind == "prose" and "|" in self._lines[-1] and _is_delimiter(bare):
            self._to_table(bare)
        else:
            self._add(bare)

    def _breaks(self, bare: str) -> bool:
        """This line cannot belong to the open prose or quote."""
        if _HEADING.match(bare) or _RULE.match(bare):
            return True
        return self._kind == "prose" and _QUOTE.match(bare) is not None

    def _to_table(self, delimiter: str) -> None:
        header = self._lines.pop()
        if self._lines:
            self._close()
        self._start("table", self._indent)
        self._add(header)
        self._add(delimiter)

    # ---- the open block ---------------------------------------------------------------------

    def _start(self, kind: Kind, indent: int) -> None:
        self._kind, self._indent = kind, indent

    def _add(self, line: str) -> None:
        self._lines.append(line)
        self._size += len(line) + 1

    def _close(self, *, keep_empty: bool = False) -> None:
        if self._lines or (keep_empty and self._gap):
            language = self._fence.language if self._fence is not None else ""
            self._done.append(
                Block(self._kind, "\n".join(self._lines), self._gap, self._indent, language)
            )
            self._gap = False
        self._lines, self._size = [], 0
        if self._fence is None:
            self._kind = "prose"

    def _cut_partial(self) -> None:
        """A line without an end: give its words up to the last blank, keep the rest."""
        text = "".join(self._partial)
        at = text.rfind(" ", len(text) // 2) + 1 or len(text)
        self._partial, self._partial_size = [text[at:]], len(text) - at
        if self._fence is not None:
            self._add(_dedent(text[:at], self._fence.indent))
        elif self._lines:
            self._add(text[:at])
        else:
            self._text_line(text[:at])
        self._close()
        self._gap = False

    def _take(self) -> list[Block]:
        done, self._done = self._done, []
        return done


def _is_delimiter(line: str) -> bool:
    return "-" in line and _DELIMITER.match(line) is not None


def _dedent(line: str, columns: int) -> str:
    leading = len(line) - len(line.lstrip(" "))
    return line[min(columns, leading) :]
