"""Where an oldText stands in a file's text: the rules of the edit tool. Pure.

Three ways, the first that finds anything decides: exactly; exactly but for line endings; as a
look-alike (quotes, dashes, odd spaces, blanks at line ends, composed and decomposed letters). Each
way asks for its only hit: exact hits are not spoilt by look-alikes (T11). A look-alike is found in
a folded copy and mapped back, so only the characters of the hit itself are ever replaced (T10), and
what oldText and newText share, whole lines or a line's characters, stays as the file has it. All
edits of a call are looked for in the text before it; regions must not overlap. Line endings of new
lines are those in use at the place. Read next: nearest.py (what to say of no hit), edit.py.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TypeAlias

from msgspec import Struct

from agentsh.alike import ODD_SPACES

_QUOTES = {**dict.fromkeys("‘’‚‛′", "'"), **dict.fromkeys("“”„‟″", '"')}
_DASHES = dict.fromkeys("‐‑‒–—―−", "-")
_LOOKS = str.maketrans({**_QUOTES, **_DASHES, **dict.fromkeys(ODD_SPACES, " ")})
# possessive and guarded, so that long runs of blanks cost no more than their length
_BLANKS_AND_CR = re.compile(r"(?<![ \t])[ \t]++(?=\r|\n|\Z)|\r(?=\n)")
_CR = re.compile(r"\r(?=\n)")
_ENDING = re.compile(r"\r\n|\n|\r")
_NEW_LINE = re.compile(r"\r\n|\n")
_MAX_HITS = 50
_MOST_COMPARED = 1_000_000
"""Characters of the old line times those of the new one."""


class Edit(Struct, frozen=True):
    old: str
    new: str


class Region(Struct, frozen=True):
    """text[start:end] is to be replaced by `new`; `index` says for which edit."""

    start: int
    end: int
    new: str
    index: int


class NotFound(Struct, frozen=True):
    index: int


class Ambiguous(Struct, frozen=True):
    """Several hits of one kind; `lines` are those where they begin, from 1."""

    index: int
    lines: tuple[int, ...]
    is_exact: bool


class Overlap(Struct, frozen=True):
    first: int
    second: int


Located: TypeAlias = tuple[Region, ...] | NotFound | Ambiguous | Overlap


def locate(text: str, edits: Sequence[Edit]) -> Located:
    """The region of every edit, in the order of the text, or why there is none."""
    regions: list[Region] = []
    folds: dict[bool, _Folded] = {}
    for index, edit in enumerate(edits):
        hits, is_exact = _hits(text, edit.old, folds)
        if not hits:
            return NotFound(index)
        if len(hits) > 1:
            lines = tuple(text.count("\n", 0, start) + 1 for start, _ in hits)
            return Ambiguous(index, lines, is_exact)
        regions.append(_region(text, hits[0], edit, index))
    regions.sort(key=lambda region: (region.start, region.end))
    for one, two in pairwise(regions):
        if two.start < one.end:
            return Overlap(min(one.index, two.index), max(one.index, two.index))
    return tuple(regions)


def apply(text: str, regions: Sequence[Region]) -> str:
    """The text with the regions replaced. They are in order and do not overlap."""
    parts: list[str] = []
    end_before = 0
    for region in regions:
        narrow = _narrowed(text, region)
        parts += [text[end_before : narrow.start], narrow.new]
        end_before = narrow.end
    parts.append(text[end_before:])
    return "".join(parts)


# ---- finding ----------------------------------------------------------------------------------


def _hits(text: str, old: str, folds: dict[bool, _Folded]) -> tuple[list[tuple[int, int]], bool]:
    exact = [(start, start + len(old)) for start in _find_all(text, old)]
    if exact:
        return exact, True
    for looks in (False, True):
        if looks not in folds:
            folds[looks] = _Folded(text, looks=looks)
        spans = folds[looks].find(old)
        if spans:
            return spans, not looks
    return [], False


def _find_all(text: str, part: str) -> list[int]:
    """Where it stands; overlapping places count, for each of them could be meant."""
    positions: list[int] = []
    position = text.find(part) if part else -1
    while position >= 0 and len(positions) < _MAX_HITS:
        positions.append(position)
        position = text.find(part, position + 1)
    return positions


class _Folded:
    """A text as it looks, and the way back from its positions to those of the text."""

    def __init__(self, text: str, *, looks: bool) -> None:
        self._looks = looks
        self._original = text
        alike = text.translate(_LOOKS) if looks and not text.isascii() else text
        self._marks: dict[int, int] = {}
        """Where marks that belong to the letter before begin, and end."""
        if looks and not unicodedata.is_normalized("NFC", alike):
            alike, self._marks = _composed(alike)
        blanks = (_BLANKS_AND_CR if looks else _CR).finditer(alike)
        holes = sorted([*(hole.span() for hole in blanks), *self._marks.items()])
        self._ends: list[int] = []
        """Where in the folded text something was left out after so many characters …"""
        self._left_out: list[int] = []
        """… and how many characters were left out up to and including there."""
        parts: list[str] = []
        end_before = size = gone = 0
        for start, end in holes:
            parts.append(alike[end_before:start])
            size += start - end_before
            gone += end - start
            if self._ends and self._ends[-1] == size:
                self._left_out[-1] = gone
            else:
                self._ends.append(size)
                self._left_out.append(gone)
            end_before = end
        parts.append(alike[end_before:])
        self.text = "".join(parts).replace("\r", "\n")

    def find(self, old: str) -> list[tuple[int, int]]:
        """Where a text that looks like this one stands in the original."""
        folded = _Folded(old, looks=self._looks).text
        # blanks at the very end of oldText were folded away: then a line must end there
        plain = old.translate(_LOOKS) if self._looks else ""
        blank_end = plain[-1:] in (" ", "\t")
        first = plain.partition("\n")[0]
        blank_begin = bool(first) and not first.strip()
        if not folded.strip() or (self._marks and _is_mark(folded[0])):
            return []
        spans = []
        for start in _find_all(self.text, folded):
            end = start + len(folded)
            if self._marks and end < len(self.text) and _is_mark(self.text[end]):
                continue  # a part of a letter is another letter
            if blank_end and self.text[end : end + 1] not in ("", "\n"):
                continue
            if blank_begin and start and self.text[start - 1] != "\n":
                continue
            spans.append((self._start(start), self._end(end, with_blanks=blank_end)))
        return spans

    def _start(self, position: int) -> int:
        """The original position of the folded character `position`."""
        i = bisect_right(self._ends, position)
        return position + (self._left_out[i - 1] if i else 0)

    def _end(self, position: int, *, with_blanks: bool) -> int:
        """The original position after the folded character before `position`."""
        i = bisect_right(self._ends, position - 1)
        end = position + (self._left_out[i - 1] if i else 0)
        end = self._marks.get(end, end)
        if with_blanks:
            while end < len(self._original) and self._original[end] not in "\r\n":
                end += 1
        return end


def _is_mark(char: str) -> bool:
    """Whether it belongs to the letter before: a combining mark, a later part of a syllable."""
    return not char.isascii() and (
        unicodedata.category(char)[0] == "M" or "\u1160" <= char <= "\u11ff"
    )


def _letters(text: str) -> list[str]:
    """The text in letters, each with the marks that belong to it."""
    letters: list[str] = []
    for char in text:
        if letters and _is_mark(char):
            letters[-1] += char
        else:
            letters.append(char)
    return letters


def _composed(text: str) -> tuple[str, dict[int, int]]:
    """The text with its letters composed, as long as it was, and where nothing is meant in it."""
    parts: list[str] = []
    unmeant: dict[int, int] = {}
    position = 0
    for letter in _letters(text):
        composed = letter if letter.isascii() else unicodedata.normalize("NFC", letter)
        if len(composed) > len(letter):
            composed = letter
        parts.append(composed.ljust(len(letter), "\0"))
        if len(composed) < len(letter):
            unmeant[position + len(composed)] = position + len(letter)
        position += len(letter)
    return "".join(parts), unmeant


# ---- replacing --------------------------------------------------------------------------------


def _region(text: str, hit: tuple[int, int], edit: Edit, index: int) -> Region:
    start, end = hit
    if text[start : start + 1] == "\n" and text[start - 1 : start] == "\r" and start:
        start -= 1  # never between the two characters of one line ending
    new = edit.new
    ending = _ending_at(text, start, end)
    if ending is not None:
        new = _NEW_LINE.sub(ending, new)
    return Region(start, end, _keeping_lines(text[start:end], edit.old, new), index)


def _ending_at(text: str, start: int, end: int) -> str | None:
    """The line ending in use at the place: in the region, else after it, else before it."""
    within = _NEW_LINE.search(text, start, end) or _NEW_LINE.search(text, end)
    if within is not None:
        return within.group()
    before = text.rfind("\n", 0, start)
    if before >= 0:
        return "\r\n" if text[before - 1 : before] == "\r" else "\n"
    # a return by itself ends a line only where nothing else does
    return "\r" if "\r" in text else None


def _keeping_lines(original: str, old: str, new: str) -> str:
    """newText, but lines that it shares with oldText at either end are those of the file."""
    theirs, olds, news = _split(original), _split(old), _split(new)
    if len(theirs) != len(olds):
        return new
    least = min(len(olds), len(news))
    top = 0
    while top < least and _bare(olds[top]) == _bare(news[top]):
        top += 1
    bottom = 0
    while bottom < least - top and _bare(olds[-1 - bottom]) == _bare(news[-1 - bottom]):
        bottom += 1
    middle = news[top : len(news) - bottom]
    if len(news) == len(olds):
        spans = slice(top, len(news) - bottom)
        pairs = zip(theirs[spans], olds[spans], middle, strict=True)
        middle = [_keeping_characters(*three) for three in pairs]
    return "".join([*theirs[:top], *middle, *(theirs[len(theirs) - bottom :] if bottom else [])])


def _keeping_characters(their: str, old: str, new: str) -> str:
    """A new line, but characters that it shares with the old one are those of the file's line."""
    if _bare(their)[0] == _bare(old)[0]:
        return new
    there, was, letters = (_letters(text) for text in (_bare(their)[0], _bare(old)[0], new))
    if len(there) != len(was) or len(was) * len(letters) > _MOST_COMPARED:
        return new
    blocks = SequenceMatcher(None, was, letters, autojunk=False).get_matching_blocks()
    for begin, to, size in blocks:
        letters[to : to + size] = there[begin : begin + size]
    return "".join(letters)


def _bare(line: str) -> tuple[str, bool]:
    """A line without its ending, and whether it has one."""
    bare = line.rstrip("\r\n")
    return bare, bare != line


def _split(text: str) -> list[str]:
    parts = []
    start = 0
    for ending in _ENDING.finditer(text):
        parts.append(text[start : ending.end()])
        start = ending.end()
    return [*parts, text[start:]] if start < len(text) else parts


def _narrowed(text: str, region: Region) -> Region:
    """Without what begins and ends the same before and after."""
    old, new = text[region.start : region.end], region.new
    least = min(len(old), len(new))
    top = 0
    while top < least and old[top] == new[top]:
        top += 1
    bottom = 0
    while bottom < least - top and old[-1 - bottom] == new[-1 - bottom]:
        bottom += 1
    return Region(
        region.start + top, region.end - bottom, new[top : len(new) - bottom], region.index
    )
