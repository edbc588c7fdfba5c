"""Markdown as agents write it: CommonMark's reader with two changes for code and for CJK text.

Names, patterns and sums in the middle of prose keep their marks (`__init__.py`, `src/**/*.ts`,
`2*3*4`, `rows[n](x)`): CommonMark would take these for emphasis and links, and lose characters
that matter. And emphasis works beside CJK punctuation, where no blanks stand between words. Shared
by what prints and what exports, so that both read a text the same. Pure.
Read next: ui/paper/inline.py, ui/export/answers.py.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.common.utils import isMdAsciiPunct, isPunctChar, isWhiteSpace
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline import StateInline, link
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token

_NAME: Final = r"__(?:[a-z0-9]+(?:_[a-z0-9]+)*|[A-Z0-9]+(?:_[A-Z0-9]+)*)__"
"""A name with two underscores at both ends; `__Note__` is emphasis."""
_NAME_BEGINS: Final = re.compile(rf"{_NAME}(?!\w)", re.ASCII)
_NAME_ENDS: Final = re.compile(rf"(?<!\w){_NAME}\Z", re.ASCII)
_LONGEST_NAME: Final = 80
_BEFORE_PATTERN: Final = " \n/\"'`([{,:="
_CALL: Final = re.compile(r"\[[^\[\]\n]{0,80}\]\((?!https?://|mailto:|<)")


class AgentMarkdown(MarkdownIt):
    """CommonMark for answers of coding agents."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__("commonmark", options)
        self.inline = _Inline()
        self.configure("commonmark", options)
        self.inline.ruler.at("link", _link)


class _Inline(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: Any, tokens: list[Token]) -> list[Token]:
        state = _State(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


class _State(StateInline):
    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:  # noqa: N802, N803
        """Whether a run of marks may open and may close, by the rules above."""
        src, marker = self.src, self.src[start]
        stop = start
        while stop < self.posMax and src[stop] == marker:
            stop += 1
        before = src[start - 1] if start else " "
        after = src[stop] if stop < self.posMax else " "
        if _is_literal(src, start, stop, before, after):
            return Scanned(False, False, stop - start)
        blank_before, blank_after = isWhiteSpace(ord(before)), isWhiteSpace(ord(after))
        mark_before = _is_mark(before) and not _is_cjk(before)
        mark_after = _is_mark(after) and not _is_cjk(after)
        left = not blank_after and (
            not mark_after or blank_before or mark_before or _is_cjk(before)
        )
        right = not blank_before and (
            not mark_before or blank_after or mark_after or _is_cjk(after)
        )
        opens = left and (canSplitWord or not right or _is_mark(before))
        closes = right and (canSplitWord or not left or _is_mark(after))
        if marker == "*" and _is_letter(before) and _is_letter(after):
            opens = False  # a sum, a power; what was opened as bold may still end within a word
            closes = closes and stop - start > 1
        return Scanned(opens, closes, stop - start)


def _is_literal(src: str, start: int, stop: int, before: str, after: str) -> bool:
    """This run belongs to a name or to a pattern of paths."""
    if src[start] == "_":
        if stop - start != 2:
            return False
        near = src[max(0, stop - _LONGEST_NAME) : stop]
        begins = not (before.isalnum() or before == "_") and _NAME_BEGINS.match(src, start)
        return bool(begins or (_NAME_ENDS.search(near) and not after.isalnum()))
    if src[start] != "*":
        return False
    if before == "/" and not (after.isalnum() or after in "*_`["):
        return True
    if after == "/" and src[stop + 1 : stop + 2] == "*" and before in _BEFORE_PATTERN:
        return True
    return stop - start == 1 and after == "." and src[stop + 1 : stop + 2].isalnum()


def _is_letter(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


def _is_mark(char: str) -> bool:
    return isMdAsciiPunct(ord(char)) or isPunctChar(char)


def _is_cjk(char: str) -> bool:
    return not char.isascii() and unicodedata.east_asian_width(char) in "WF"


def _link(state: StateInline, silent: bool) -> bool:
    """Directly behind a word brackets are an index and a call, but for an address of the web."""
    start = state.pos
    if start and _is_letter(state.src[start - 1]) and _CALL.match(state.src, start):
        return False
    return link(state, silent)
