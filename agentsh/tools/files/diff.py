"""What a change of a text is, for people and for the record: Pi's numbered diff, and a patch. Pure.

The numbered form has one line a line: sign, number (new for "+", old for the others), text. Long
differences are cut with a note; the record must not outgrow the conversation (S12). Equal
beginnings and ends are set aside first, so that the cost follows the change and not the file.
"""

from __future__ import annotations

import difflib
from typing import Literal

from msgspec import Struct

CONTEXT = 4
MAX_DIFF_LINES = 400
MAX_DIFF_CHARS = 20_000
_MAX_MATCHED = 1500
"""Lines a side that are compared one by one; a larger change is shown as replaced whole."""
_MAX_LINE = 500


class Diff(Struct, frozen=True):
    """`numbered` and `patch` as Pi stores them; `first_line` is where the new text differs."""

    numbered: str
    patch: str
    first_line: int | None
    added: int
    removed: int


class _Line(Struct, frozen=True):
    sign: Literal[" ", "-", "+"]
    number: int
    text: str


class _Hunk(Struct, frozen=True):
    old_start: int
    new_start: int
    lines: tuple[_Line, ...]


def diff_texts(old: str, new: str, name: str) -> Diff:
    """The difference of two texts; lines end at "\\n"."""
    before, after = _lines(old), _lines(new)
    hunks = _hunks(before, after)
    lines = [line for hunk in hunks for line in hunk.lines]
    first = next((line.number for line in lines if line.sign != " "), None)
    return Diff(
        numbered=_numbered(hunks, len(str(max(len(before), len(after), 1)))),
        patch=_patch(hunks, name),
        first_line=first,
        added=sum(line.sign == "+" for line in lines),
        removed=sum(line.sign == "-" for line in lines),
    )


def _lines(text: str) -> list[str]:
    parts = text.split("\n")
    last = parts.pop()
    return [part + "\n" for part in parts] + ([last] if last else [])


def _hunks(old: list[str], new: list[str]) -> list[_Hunk]:
    """The changed places with their context; places that touch are one."""
    result: list[_Hunk] = []
    pending: list[_Line] = []
    starts = (1, 1)
    end = 0
    for i1, i2, j1, j2 in _changes(old, new):
        begin = max(i1 - CONTEXT, 0)
        if pending and begin > end + CONTEXT:
            pending += _context(old, end, min(end + CONTEXT, len(old)))
            result.append(_Hunk(*starts, tuple(pending)))
            pending = []
        if not pending:
            starts = (begin + 1, begin + 1 + j1 - i1)
            end = begin
        pending += _context(old, end, i1)
        pending += [_Line("-", i + 1, old[i]) for i in range(i1, i2)]
        pending += [_Line("+", j + 1, new[j]) for j in range(j1, j2)]
        end = i2
    if pending:
        pending += _context(old, end, min(end + CONTEXT, len(old)))
        result.append(_Hunk(*starts, tuple(pending)))
    return result


def _context(old: list[str], begin: int, end: int) -> list[_Line]:
    return [_Line(" ", i + 1, old[i]) for i in range(begin, end)]


def _changes(old: list[str], new: list[str]) -> list[tuple[int, int, int, int]]:
    """(old from, to, new from, to) of each change, in order."""
    start = 0
    least = min(len(old), len(new))
    while start < least and old[start] == new[start]:
        start += 1
    end = 0
    while end < least - start and old[-1 - end] == new[-1 - end]:
        end += 1
    a, b = old[start : len(old) - end], new[start : len(new) - end]
    if not a and not b:
        return []
    if max(len(a), len(b)) > _MAX_MATCHED:
        return [(start, start + len(a), start, start + len(b))]
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    return [
        (start + i1, start + i2, start + j1, start + j2)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


def _numbered(hunks: list[_Hunk], width: int) -> str:
    rows: list[str] = []
    for i, hunk in enumerate(hunks):
        if i or hunk.old_start > 1:
            rows.append(f" {'':>{width}} ...")
        for line in hunk.lines:
            text = line.text.rstrip("\n")
            text = text if len(text) <= _MAX_LINE else text[:_MAX_LINE] + "…"
            rows.append(f"{line.sign}{line.number:>{width}} {text}")
    return _bounded(rows)


def _patch(hunks: list[_Hunk], name: str) -> str:
    rows = [f"--- {name}", f"+++ {name}"]
    for hunk in hunks:
        old = sum(line.sign != "+" for line in hunk.lines)
        new = sum(line.sign != "-" for line in hunk.lines)
        rows.append(f"@@ -{_range(hunk.old_start, old)} +{_range(hunk.new_start, new)} @@")
        for line in hunk.lines:
            rows.append(line.sign + line.text.rstrip("\n"))
            if not line.text.endswith("\n"):
                rows.append("\\ No newline at end of file")
    if len(rows) > MAX_DIFF_LINES or sum(map(len, rows)) > MAX_DIFF_CHARS:
        return ""  # half a patch is none
    return "\n".join(rows) + "\n"


def _range(start: int, count: int) -> str:
    return f"{start if count else start - 1},{count}"


def _bounded(rows: list[str]) -> str:
    room = MAX_DIFF_CHARS
    for i, row in enumerate(rows):
        room -= len(row) + 1
        if i >= MAX_DIFF_LINES or room < 0:
            return "\n".join([*rows[:i], f"… {len(rows) - i} more lines of this difference"])
    return "\n".join(rows)
