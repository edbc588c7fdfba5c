"""What to say when an oldText is nowhere: the region most like it, and what differs there. Pure.

The region is found by the words that lines share, then by likeness of the few best places; the cost
is bounded whatever the file. Characters that look alike or are invisible are named by code point,
because that is mostly what is wrong (T12).
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections import Counter

from msgspec import Struct

_WORD = re.compile(r"\w+|[^\w\s]")
_MAX_LINES = 50_000
_MAX_LINE = 400
_MAX_SHOWN = 12
_MAX_DIFFERENCES = 4
_CANDIDATES = 8


class Nearest(Struct, frozen=True):
    """Lines first..last of the text (from 1), and the differences in words."""

    first: int
    last: int
    shown: str
    differences: tuple[str, ...]


def nearest(text: str, old: str) -> Nearest | None:
    """The place most like `old`; None where nothing is at all like it."""
    lines = _lines(text)[:_MAX_LINES]
    sought = _lines(old.strip("\r\n"))
    first = _best_place(lines, sought)
    if first is None:
        return None
    end = min(first + len(sought), len(lines))
    rows = [f"{first + i + 1}: {line}" for i, line in enumerate(lines[first:end])]
    if len(rows) > _MAX_SHOWN:
        rows = [*rows[:_MAX_SHOWN], f"… {len(rows) - _MAX_SHOWN} more lines"]
    return Nearest(first + 1, end, "\n".join(rows), _differences(lines[first:end], sought, first))


def _lines(text: str) -> list[str]:
    """Composed, since decomposed letters are no words, and no reason for a miss either."""
    lines = unicodedata.normalize("NFC", text).split("\n")
    return [line[:_MAX_LINE].rstrip("\r") for line in lines]


def _best_place(lines: list[str], sought: list[str]) -> int | None:
    """The first line (from 0) of the window most like `sought`."""
    bags = [Counter(_WORD.findall(line)) for line in sought]
    votes: Counter[int] = Counter()
    index: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        for word in set(_WORD.findall(line)):
            index.setdefault(word, []).append(number)
    for row, bag in enumerate(bags):
        for word in bag:
            numbers = index.get(word, [])
            # a word that stands everywhere says little, and counting it would cost much
            for number in numbers[:2000]:
                if number - row >= 0:
                    votes[number - row] += 100 * len(word) // (len(numbers) + 1) + 1
    best: tuple[float, int] | None = None
    joined = "\n".join(sought)[:800]
    for first, _ in votes.most_common(_CANDIDATES):
        window = "\n".join(lines[first : first + len(sought)])[:800]
        likeness = difflib.SequenceMatcher(None, window, joined, autojunk=False).ratio()
        if best is None or likeness > best[0]:
            best = likeness, first
    return best[1] if best is not None and best[0] > 0.3 else None


def _differences(have: list[str], sought: list[str], first: int) -> tuple[str, ...]:
    """The first few differences, line by line."""
    differences: list[str] = []
    for i, line in enumerate(sought):
        if len(differences) >= _MAX_DIFFERENCES:
            break
        if i >= len(have):
            differences.append(f"the file ends before line {i + 1} of oldText")
            break
        if have[i] != line:
            differences.append(f"line {first + i + 1}: {_difference(have[i], line)}")
    return tuple(differences)


def _difference(have: str, want: str) -> str:
    """The first place where two lines part, in words."""
    if have.strip() == want.strip() and have.strip():
        if have.rstrip() == want.rstrip():
            return "blanks at the end of the line differ"
        return f"indentation is {_blanks(have)} in the file, {_blanks(want)} in oldText"
    matcher = difflib.SequenceMatcher(None, have, want, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            column = f"from column {i1 + 1} on"
            return f"{column} the file has {_named(have[i1:i2])}, oldText has {_named(want[j1:j2])}"
    return "no difference in the part compared"


def _blanks(line: str) -> str:
    lead = line[: len(line) - len(line.lstrip())]
    counts = Counter(lead)
    if not counts:
        return "none"
    return ", ".join(f"{n} × {_name(c)}" for c, n in counts.items())


def _named(piece: str) -> str:
    """A piece of text; what is easily taken for something else with its code points."""
    if not piece:
        return "nothing"
    clipped = piece if len(piece) <= 40 else piece[:40] + "…"
    odd = [c for c in dict.fromkeys(piece) if not c.isascii() or c.isspace()][:3]
    names = ", ".join(_name(c) for c in odd)
    return f'"{_visible(clipped)}"' + (f" ({names})" if names else "")


def _name(character: str) -> str:
    if "\udc80" <= character <= "\udcff":
        return f"the byte {ord(character) - 0xDC00:02X}, which is not UTF-8"
    plain = {" ": "space", "\t": "tab", "\r": "carriage return"}
    if character in plain:
        return plain[character]
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()


def _visible(piece: str) -> str:
    return "".join(
        c if c.isprintable() else "\ufffd" if "\ud800" <= c <= "\udfff" else repr(c)[1:-1]
        for c in piece
    )
