"""Markdown as it was written → the same with nothing in it that acts where it is read. Pure.

Theory. What must not be live: raw HTML, pictures from elsewhere, links that run. `<`, `![` and the
brackets of such links become character references, which show as themselves and are never markup;
only code keeps them, since a reference is not resolved there. What is code depends on blocks (a
list ends a fence, a heading ends a code span), so a reading by patterns is a guess, and whoever
wrote the text can make it a wrong one. Therefore the result is read again by a parser of CommonMark
(with and without tables): if anything is live after all, or the text does not end where it seems
to, each character that could be markup of that kind becomes a reference, in code too.
Read next: markdown.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from agentsh.sanitize import safe_text

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_CODE_SPAN: Final = re.compile(r"(?<![\\`])(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
# a target with a scheme of its own, spelled out or by character references, but for the web's
_LINK: Final = re.compile(r"\](?=\(\s*<?(?!https?://|mailto:)[^)\s]*[:&])", re.IGNORECASE)
_REFERENCE: Final = re.compile(r"^([ \t]*)\[(?=[^\]]*\]:)", re.MULTILINE)
_MARKUP: Final = frozenset("<[`~")
_REFERENCES: Final = {ord(char): f"&#{ord(char)};" for char in "[]`~"} | {ord("<"): "&lt;"}
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_LETS_PASS: Final = ("http:", "https:", "mailto:")
_END: Final = "end"
_DEEPEST: Final = 60
_LONGEST: Final = 200_000
_MOST_BRACKETS: Final = 2000
"""The parser's time grows with the square of them."""


def inert(text: str) -> str:
    """The text with nothing in it that a reader's program would run or load; fences are closed."""
    text = safe_text(text)
    with_code = _with_code(text)
    return with_code if _is_inert(with_code) else text.translate(_REFERENCES)


def inert_line(line: str) -> str:
    """The same of one line that stands in a line of ours: it opens no block there."""
    made = inert(line)
    return made if "\n" not in made else safe_text(line).translate(_REFERENCES)


def _with_code(text: str) -> str:
    """What seems to be code stays as it is."""
    out: list[str] = []
    plain: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            out.append(line)
            if (
                mark
                and mark[1][0] == fence[0]
                and len(mark[1]) >= len(fence)
                and not mark[2].strip()
            ):
                fence = ""
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            out += _harmless(plain)
            plain = []
            fence = mark[1]
            # the info string is shown by nobody and may be markup to somebody
            out.append(line.replace("<", "").replace(">", ""))
        else:
            plain.append(line)
    out += _harmless(plain)
    if fence:
        out.append(fence)
    return "\n".join(out)


def _harmless(lines: list[str]) -> list[str]:
    """Outside of code: no tags, no pictures from elsewhere, no links that run."""
    if not lines:
        return []
    text = "\n".join(lines)
    parts: list[str] = []
    end_before = 0
    for span in _CODE_SPAN.finditer(text):
        if "\n\n" in span[2]:
            continue  # a code span ends with its paragraph
        parts += [_escaped(text[end_before : span.start()]), span[0]]
        end_before = span.end()
    parts.append(_escaped(text[end_before:]))
    return "".join(parts).split("\n")


def _escaped(text: str) -> str:
    text = text.replace("<", "&lt;").replace("![", "!&#91;")
    return _REFERENCE.sub(r"\1&#91;", _LINK.sub("&#93;", text))


def _is_inert(text: str) -> bool:
    """Whether a reader finds nothing live in it, and what comes after it stands by itself."""
    if _MARKUP.isdisjoint(text):
        return True
    if len(text) > _LONGEST or text.count("[") > _MOST_BRACKETS:
        return False
    try:
        return all(_reads_inert(text, parser) for parser in _parsers())
    except RecursionError:
        return False


def _reads_inert(text: str, parser: MarkdownIt) -> bool:
    env: dict[str, dict[str, dict[str, str]]] = {}
    tokens = parser.parse(f"{text}\n\n{_END}\n", env)
    # in an open fence, or in a block too deep to be read, there would be no such paragraph
    last = tokens[-2:-1]
    if not last or last[0].content != _END or last[0].level != 1:
        return False
    targets = [reference["href"] for reference in env.get("references", {}).values()]
    return all(map(_may_go_to, targets)) and all(map(_is_harmless, _all_of(tokens)))


def _is_harmless(token: Token) -> bool:
    if token.level >= _DEEPEST - 2 or token.type in ("html_inline", "html_block", "image"):
        return False
    return token.type != "link_open" or _may_go_to(str(token.attrs.get("href", "")))


def _may_go_to(target: str) -> bool:
    scheme = _SCHEME.match(target.strip())
    return scheme is None or scheme[0].lower() in _LETS_PASS


def _all_of(tokens: Iterable[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _all_of(token.children or ())


class _Parser(MarkdownIt):
    """Links of each scheme are links, so that they are seen."""

    def validateLink(self, url: str) -> bool:  # noqa: N802 - the library's name
        return True


@cache
def _parsers() -> tuple[MarkdownIt, ...]:
    plain, tabled = (_Parser("commonmark", {"maxNesting": _DEEPEST}) for _ in range(2))
    return plain, tabled.enable(["table", "strikethrough"])
