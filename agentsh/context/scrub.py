"""Takes characters that nobody sees out of context files, where they could hide instructions.

Taken out: tag characters, zero-width characters, bidi controls, invisible operators and fillers,
and variation selectors behind no visible character (whole texts can be coded in runs of these).
What is needed to write stays: letters of every script; a joiner between letters of a script that
uses joiners, or between two emoji; one variation selector behind a visible character. Line ends and
tabs are no business of this module. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_ZWNJ: Final = "\u200c"
_ZWJ: Final = "\u200d"

_INVISIBLE: Final = (
    "["
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # fillers, Mongolian selectors
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f"  # zero-width, bidi controls, invisible operators
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # format controls of shorthand and music
    "\U000e0000-\U000e0fff"  # tags, variation selectors 17 to 256, the rest of that plane's block
    "]"
)
# Arabic and its neighbours, the scripts of India and South-East Asia, Mongolian: they need joiners
_JOINING = (
    (0x0600, 0x08FF),
    (0x0900, 0x109F),
    (0x1780, 0x18AF),
    (0x1A20, 0x1BFF),
    (0xA840, 0xA9FF),
    (0xFB50, 0xFDFF),
    (0xFE70, 0xFEFC),
)


def scrub(text: str) -> tuple[str, int]:
    """The text without invisible characters, and how many were taken out."""
    pieces: list[str] = []
    count, start = 0, 0
    for match in re.finditer(_INVISIBLE, text):
        i = match.start()
        pieces.append(text[start:i])
        start = i + 1
        if _is_needed(text, i):
            pieces.append(text[i])
        else:
            count += 1
    pieces.append(text[start:])
    return "".join(pieces), count


def _is_needed(text: str, i: int) -> bool:
    char = text[i]
    before = text[i - 1] if i else ""
    after = text[i + 1] if i + 1 < len(text) else ""
    if char == _ZWJ and _is_emoji(before) and _is_emoji(after):
        return True
    if char in (_ZWNJ, _ZWJ):
        return _joins(before) and (_joins(after) or not after or after.isspace())
    if "\ufe00" <= char <= "\ufe0f":
        return _is_visible(before)
    if "\U000e0100" <= char <= "\U000e01ef":  # variants of Chinese characters
        return before != "" and unicodedata.name(before, "").startswith("CJK")
    return False


def _is_emoji(char: str) -> bool:
    """A pictograph, a skin tone, or the selector that makes one of a letter (❤️)."""
    if not char:
        return False
    return char == "\ufe0f" or (unicodedata.category(char) in ("So", "Sk") and char > "\u2000")


def _joins(char: str) -> bool:
    return char != "" and any(first <= ord(char) <= last for first, last in _JOINING)


def _is_visible(char: str) -> bool:
    return char != "" and not char.isspace() and re.match(_INVISIBLE, char) is None
