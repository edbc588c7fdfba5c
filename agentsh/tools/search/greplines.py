"""What one file gives to a grep: numbered lines, shown and clipped. Pure; used on both sides.

The parent uses it for what ripgrep found, the child (grepworker.py) for what Python found, so that
both show a line alike. It loads little: the child starts with it.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from typing import Final, Literal

from msgspec import Struct

CLIP: Final = 500
_LEAD: Final = 100
"""Characters before the match that a clipped line shows."""
SNIFF: Final = 65_536
"""A NUL this early makes a file binary; a later one counts as the end of a line."""
MAX_SEARCHED_FILE: Final = 64 * 1024 * 1024
"""Larger files are not searched: both engines hold a line, and a line may be the whole file."""
_UTF16: Final = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


_PARTED: Final = r"[\[(]|\\[1-9]|[^\x00-\x7f][?*+{]"


class GrepLine(Struct, frozen=True):
    """One line to show. `is_match` False: it is there for context."""

    number: int
    is_match: bool
    text: str


class Hits(Struct, frozen=True):
    """The lines of one file, by number. `file` is its place in the list that was searched."""

    file: int
    lines: tuple[GrepLine, ...]

    @property
    def matches(self) -> int:
        return sum(line.is_match for line in self.lines)


class Skipped(Struct, frozen=True):
    """A file of which no line is shown, though it was to be searched. `file` as in `Hits`."""

    file: int
    why: Literal["binary", "unreadable"]
    """`binary`: the pattern matches in it, and its bytes are no text to show."""
    reason: str = ""
    """Of an unreadable one: the system's words."""


def spellings(pattern: str, *, literal: bool) -> tuple[str, ...]:
    """The pattern; where it has letters with marks, also the same composed and decomposed (T20).

    One with sets, groups or a repeated letter of that kind stays alone: the parts of a decomposed
    letter would be taken one by one there.
    """
    if pattern.isascii() or (not literal and re.search(_PARTED, pattern)):
        return (pattern,)
    forms = (unicodedata.normalize(form, pattern) for form in ("NFC", "NFD"))
    return tuple(dict.fromkeys((pattern, *forms)))


def shown_line(raw: bytes, start: int, number: int) -> str:
    """A line's text, or 500 characters of it around byte `start`, and how to see the rest."""
    raw = raw.removesuffix(b"\n").removesuffix(b"\r")
    text = raw.decode("utf-8", "replace")
    if len(text) <= CLIP:
        return text
    position = len(raw[:start].decode("utf-8", "replace"))
    begin = max(0, min(position - _LEAD, len(text) - CLIP)) if position > CLIP - _LEAD else 0
    end = begin + CLIP
    column = len(text[:begin].encode("utf-8", "replace")) + 1
    note = (
        f"[{CLIP} of {len(text)} characters, from {begin + 1};"
        f" read it with offset={number} column={column}]"
    )
    return f"{'…' if begin else ''}{text[begin:end]}{'…' if end < len(text) else ''} {note}"


def text_bytes(data: bytes) -> bytes:
    """A file's bytes as both engines see them: UTF-16 with its mark as UTF-8, no UTF-8 mark."""
    encoding = _UTF16.get(data[:2])
    if encoding is not None:
        return data[2:].decode(encoding, "replace").encode("utf-8")
    return data.removeprefix(codecs.BOM_UTF8)


def is_binary(head: bytes) -> bool:
    """Whether a file that begins so is no text."""
    return b"\0" in text_bytes(head[:SNIFF])
