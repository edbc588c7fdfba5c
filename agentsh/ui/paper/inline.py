"""Markdown within a line → spans: bold, italic, struck, code, links. Loses nothing of a text.

HTML, entities and link definitions are shown as they are written (entities could spell control
characters); a link shows its address. `unclosed` says whether what is open may still change how a
text looks, which decides when a streamed line is final. Pure.
Read next: ui/commonmark.py, markdown.py, render.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from agentsh.ui.commonmark import AgentMarkdown
from agentsh.ui.paper.rows import Styled

NOT_FOLLOWED = ("entity", "reference", "html_block", "html_inline")
"""What of Markdown is shown as it is written."""

MOST_BRACKETS = 100
"""For each "[" the parser looks through the rest; with more of them a text stays as it is."""

_SPECIAL = re.compile(r"[*_`~\[\]\\<!]")
_OPENING = {"strong_open": "bold", "em_open": "italic", "s_open": "strike"}
_ESCAPED = re.compile(r"\\[\\`*_~\[\]<]")
_TICKS = re.compile(r"`+")
_STAR = re.compile(r"(?<=\S)\*|\*(?=\S)")
_BAR = re.compile(r"(?<!\w)_(?=\S)|(?<=\S)_(?!\w)")
_LINK = re.compile(r"\[[^\]]*$|\]\([^)\s]*$|<[a-z]+:[^>\s]*$")


def spans_of(text: str) -> list[Styled]:
    """A paragraph's text; its line ends stay line ends."""
    if _SPECIAL.search(text) is None or text.count("[") > MOST_BRACKETS:
        return [(text, "")] if text else []
    spans: list[Styled] = []
    for token in _parser().parseInline(text):
        spans += _walk(token.children or ())
    return spans


def unclosed(text: str) -> str | None:
    """What would close the mark that is open at the end of a text; None where none is open.

    Rather one too many: a mark that is never closed is shown as it is written.
    """
    if _SPECIAL.search(text) is None:
        return None
    text, ticks = _without_code(_ESCAPED.sub("", text))
    if ticks:
        return ticks
    for mark in ("**", "__", "~~"):
        if text.count(mark) % 2:
            return mark
        text = text.replace(mark, "")
    if len(_STAR.findall(text)) % 2:
        return "*"
    if len(_BAR.findall(text)) % 2:
        return "_"
    return "" if _LINK.search(text) else None


def _without_code(text: str) -> tuple[str, str]:
    """The text but for its spans of code; and the ticks of one that is open."""
    runs = list(_TICKS.finditer(text))
    if not runs:
        return text, ""
    later: dict[int, list[int]] = {}
    for number in range(len(runs) - 1, -1, -1):
        later.setdefault(len(runs[number].group()), []).append(number)
    pieces: list[str] = []
    end_before = number = 0
    while number < len(runs):
        run = runs[number]
        same = later[len(run.group())]
        while same and same[-1] <= number:
            same.pop()
        if not same:
            return text, run.group()
        pieces.append(text[end_before : run.start()])
        end_before, number = runs[same[-1]].end(), same[-1] + 1
    return "".join([*pieces, text[end_before:]]), ""


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = AgentMarkdown({"html": False})
    return parser.enable("strikethrough").disable(list(NOT_FOLLOWED))


def _walk(tokens: Sequence[Token]) -> list[Styled]:
    spans: list[Styled] = []
    looks: list[str] = []
    links: list[tuple[str, int]] = []
    for token in tokens:
        if token.type in _OPENING:
            looks.append(_OPENING[token.type])
        elif token.type == "link_open":
            links.append((str(token.attrs.get("href", "")), len(spans)))
            looks.append("underline")
        elif token.type == "link_close":
            looks.pop()
            address, first = links.pop()
            if "".join(text for text, _ in spans[first:]) != address:
                spans += [(" (", ""), (address, "quiet"), (")", "")]
        elif token.nesting < 0:
            looks.pop()
        elif token.type in ("softbreak", "hardbreak"):
            spans.append(("\n", ""))
        elif token.type == "image":
            spans += [(token.content, "underline"), (f" ({token.attrs.get('src', '')})", "quiet")]
        elif token.content:
            code = ["code"] if token.type == "code_inline" else []
            spans.append((token.content, " ".join([*looks, *code])))
    return spans
