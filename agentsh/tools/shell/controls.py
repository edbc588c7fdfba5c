"""Make what a program printed harmless as text: no escape sequences, no control characters. Pure.

Complete terminal sequences (colours, cursor, titles, clipboard, links) are dropped; every other
control character becomes its picture (ESC as U+241B) so that nothing disappears unseen. A line that
redraws itself with carriage returns, backspaces or a cursor that is moved, alone or with those
around it, is what a terminal shows of it in the end (`settled`); the file with the whole output
keeps every state.
"""

from __future__ import annotations

import re

# CSI; then the string sequences OSC, DCS, SOS, PM, APC up to their end; then short ones (charset …)
_SEQUENCES = re.compile(
    r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)"
    r"|\x1b[ -/]{1,4}[0-~]"
    r"|\x1b[=>78cDEHMNOZ]"
)
_ERASE_LINE = "\x1b[2K"
_ERASE_REST = re.compile(r"\x1b\[0?K")
_TO_FIRST_COLUMN = re.compile(r"\x1b\[[01]?G")
_UPWARDS = re.compile(r"\x1b\[\d{0,4}[AF]")
_MOVED = re.compile(rb"\x1b\[\d{0,4}[AFG]")
_MOVES = re.compile(r"\n|\x1b\[(\d{0,4})([ABEF])|\x1b\[0?J")
_RETURNS = re.compile(r"\r+\n|\r")
_PICTURES = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),
}


def count_moves(data: bytes) -> int:
    """How often the cursor goes back to what was written, by a sequence."""
    return len(_MOVED.findall(data)) if b"\x1b[" in data else 0


def settled(text: str) -> str:
    """The text with each line as a terminal shows it in the end: overwritten, erased, typed back.

    A column is a character here; that bars of wide characters may keep a stray one is accepted, and
    that a cursor which is moved up or down goes to the first column. Where it stands above the last
    row in the end, the text ends with the sequence that leads there.
    """
    if "\x1b[" in text:
        text = _TO_FIRST_COLUMN.sub("\r", text)
        if _UPWARDS.search(text):
            return _settled_rows(text)
    if "\r" not in text and "\b" not in text:
        return text
    return "\n".join(_settled_line(line) for line in text.split("\n"))


def _settled_rows(text: str) -> str:
    """The same where the cursor goes back to rows that were written before."""
    rows: list[list[str]] = [[]]
    row = start = 0
    for move in _MOVES.finditer(text):
        rows[row].append(text[start : move.start()])
        start = move.end()
        count = int(move[1] or 1) if move[2] else 1
        match move[2]:
            case "A" | "F":
                row = max(0, row - count)
            case "B" | "E":
                row = min(len(rows) - 1, row + count)
            case _ if move[0] == "\n":
                row += 1
            case _:
                del rows[row + 1 :]
                rows[row].append("\x1b[K")
                continue
        if row == len(rows):
            rows.append([])
        elif rows[row]:
            rows[row].append("\r")
    rows[row].append(text[start:])
    shown = "\n".join(_settled_line("".join(pieces)) for pieces in rows)
    below = len(rows) - 1 - row
    return f"{shown}\x1b[{below}A" if below else shown


def _settled_line(line: str) -> str:
    """What is longer than what was written over it shows behind that, unless it was erased."""
    if "\r" not in line and "\b" not in line:
        return line
    shown = ""
    for piece in reversed(line.rstrip("\r").split("\r")):
        *erased, visible = piece.split(_ERASE_LINE)
        blank = " " * len(_SEQUENCES.sub("", "".join(erased)))
        plain = _typed_back(blank + _SEQUENCES.sub("", visible))
        shown += plain[len(shown) :]
        if erased or ("\x1b" in visible and _ERASE_REST.search(visible)):
            return shown.rstrip() if erased else shown
    return shown


def _typed_back(piece: str) -> str:
    """Backspaces move back, and what follows is written over what was there."""
    if "\b" not in piece:
        return piece
    cells: list[str] = []
    column = 0
    for char in piece:
        if char == "\b":
            column = max(0, column - 1)
        else:
            cells[column : column + 1] = [char]
            column += 1
    return "".join(cells)


def harmless(text: str) -> str:
    """The text with nothing in it that a terminal would obey; a carriage return ends a line."""
    if "\x1b" in text:
        text = _SEQUENCES.sub("", text)
    return _RETURNS.sub("\n", text).translate(_PICTURES)
