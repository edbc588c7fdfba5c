"""A difference → lines in colour: what was taken out, what came, and the words that differ.

Where the theme tints whole lines, code in them keeps its own colours; else a line has one. Lines
that stand in for one another are compared by words (difflib), unless they have little in common.
Work is bounded: a pair of lines of more than LONGEST_COMPARED characters is not compared. Pure.
Cards, pages to be read and the chat's /diff show them alike. Read next: highlight.py, cards.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby, pairwise
from typing import TypeAlias

from agentsh.sanitize import safe_text
from agentsh.ui.cells import hang_of
from agentsh.ui.paper.highlight import TAB_CELLS, Code
from agentsh.ui.paper.pages import PageLine, plain_page_lines
from agentsh.ui.paper.rows import Laid, Styled

LONGEST_COMPARED = 500
LEAST_IN_COMMON = 0.5
_NUMBERED = re.compile(r"[-+ ] *\d+ ")
_LEFT_OUT = "…"
_WORD = re.compile(r"\w+|\s+|.")

_Range: TypeAlias = tuple[int, int]


def page_lines(lines: Iterable[PageLine], *, tinted: bool = False) -> Iterator[Laid]:
    """Lines that have a look each; of those of a difference the words that differ are marked."""
    for file, group in groupby(lines, key=lambda line: line.file):
        if file:
            diff = "\n".join(line.text for line in group)
            yield from changed_lines(diff, file, tinted=tinted, margin="")
            continue
        yield from plain_page_lines(group)


def changed_lines(
    diff: str, file: str = "", *, tinted: bool = False, margin: str = "  "
) -> Iterator[Laid]:
    """The lines of a numbered or a plain difference. `file` names the language."""
    lines = [line.expandtabs(TAB_CELLS) for line in safe_text(diff).split("\n")]
    gutters = _gutters(lines, file)
    word_ranges = _changed_words(lines, gutters)
    before, after = Code.of_file(file), Code.of_file(file)
    for number, line in enumerate(lines):
        gutter = gutters[number]
        text, sign = line[len(gutter) :], line[:1]
        hang = len(margin) + (len(gutter) or hang_of(line))
        if sign not in ("+", "-"):
            code = after.line(text) if gutter else []
            before.line(text)
            spans = code if tinted and gutter else [(text, "quiet")]
            yield [(f"{margin}{gutter}", "quiet"), *spans], hang
            continue
        role = "added" if sign == "+" else "removed"
        code = (after if sign == "+" else before).line(text)
        spans = [(piece, f"{look} {role}_line".strip()) for piece, look in code]
        if not tinted:
            spans = [(text, role)]
        spans = _marked(spans, word_ranges.get(number, ()), f"{role}_word")
        yield [(margin, ""), (gutter, f"{role} {role}_line"), *spans], hang


def _gutters(lines: Sequence[str], file: str) -> list[str]:
    """What stands before each line's text: sign and number where all have one, else the sign."""
    matches = [_NUMBERED.match(line) for line in lines]
    pairs = zip(lines, matches, strict=True)
    if all(match or not line.strip() or line.startswith(_LEFT_OUT) for line, match in pairs):
        return [match.group() if match is not None else "" for match in matches]
    signs = "+- " if file else "+-"
    return [line[:1] if line[:1] in signs else "" for line in lines]


def _changed_words(lines: Sequence[str], gutters: Sequence[str]) -> dict[int, list[_Range]]:
    """Line → what of its text differs from the line that stands in for it."""
    ranges: dict[int, list[_Range]] = {}
    start = 0
    while start < len(lines):
        middle = _run(lines, start, "-")
        end = _run(lines, middle, "+")
        if middle - start == end - middle:  # as many came as were taken out
            for old, new in zip(range(start, middle), range(middle, end), strict=True):
                before, after = (lines[each][len(gutters[each]) :] for each in (old, new))
                ranges[old], ranges[new] = _compared(before, after)
        start = max(end, start + 1)
    return ranges


def _run(lines: Sequence[str], start: int, sign: str) -> int:
    """Where the lines with this sign that begin here end."""
    while start < len(lines) and lines[start][:1] == sign:
        start += 1
    return start


def _compared(old: str, new: str) -> tuple[list[_Range], list[_Range]]:
    if max(len(old), len(new)) > LONGEST_COMPARED:
        return [], []
    mine, others = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, mine, others, autojunk=False)
    same = sum(
        len("".join(mine[m.a : m.a + m.size]).strip()) for m in matcher.get_matching_blocks()
    )
    if same < LEAST_IN_COMMON * max(len(old.strip()), len(new.strip())):
        return [], []
    left: list[_Range] = []
    right: list[_Range] = []
    for what, a1, a2, b1, b2 in matcher.get_opcodes():
        if what != "equal":
            _add_range(left, mine, a1, a2)
            _add_range(right, others, b1, b2)
    return left, right


def _add_range(ranges: list[_Range], words: Sequence[str], first: int, last: int) -> None:
    if first < last:
        start = sum(map(len, words[:first]))
        ranges.append((start, start + sum(map(len, words[first:last]))))


def _marked(spans: Sequence[Styled], ranges: Sequence[_Range], look: str) -> list[Styled]:
    """The spans with one more look in these ranges of their text."""
    borders = sorted({border for each in ranges for border in each})
    marked: list[Styled] = []
    offset = 0
    for text, own in spans:
        cuts = [0, *(b - offset for b in borders if offset < b < offset + len(text)), len(text)]
        for start, end in pairwise(cuts):
            inside = any(first <= offset + start < last for first, last in ranges)
            marked.append((text[start:end], f"{own} {look}" if inside else own))
        offset += len(text)
    return [(text, own) for text, own in marked if text]
