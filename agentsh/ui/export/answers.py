"""An answer's Markdown → HTML of a few known elements, for the page. Pure.

markdown-it reads it (rich brings that library); what is written is spelled here, element by
element: raw HTML is text, a picture from elsewhere is its source text, a link goes to http, https
or mailto or is no link. Whatever is said passes `escape`. What is too long, too deep or too
bracketed to be read in good time stays as it was written. Read next: html.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from html import escape
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from agentsh.sanitize import safe_line, safe_text
from agentsh.ui.commonmark import AgentMarkdown

_ELEMENTS: Final[Mapping[str, str]] = {
    "paragraph": "p",
    "bullet_list": "ul",
    "list_item": "li",
    "blockquote": "blockquote",
    "table": "table",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
    "th": "th",
    "td": "td",
    "strong": "strong",
    "em": "em",
    "s": "s",
}
_LINKS: Final = ("http://", "https://", "mailto:")
_DEEPEST: Final = 60
_LONGEST: Final = 200_000
_MOST_BRACKETS: Final = 2000
"""The parser's time grows with the square of them."""


def answer_html(text: str) -> str:
    """The elements of an answer; no raw text of it is markup."""
    text = safe_text(text)
    if len(text) > _LONGEST or text.count("[") > _MOST_BRACKETS:
        return f'<div class="told">{escape(text)}</div>'
    try:
        shown = "".join(_blocks(_parser().parse(text)))
    except RecursionError:
        return f'<div class="told">{escape(text)}</div>'
    return f'<div class="prose">{shown}</div>'


def _blocks(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        match token.type:
            case "inline":
                yield from _inline(token.children or ())
            case "fence" | "code_block":
                yield f"<pre><code>{_said(token.content)}</code></pre>\n"
            case "hr":
                yield "<hr>\n"
            case "heading_open" | "heading_close":
                # below the headings of the page itself
                yield _tag(f"h{min(6, int(token.tag[1:]) + 3)}", token)
            case "ordered_list_open":
                start = str(token.attrs.get("start", "1"))
                yield f'<ol start="{start}">' if start.isdecimal() else "<ol>"
            case "ordered_list_close":
                yield "</ol>\n"
            case "paragraph_open" | "paragraph_close" if token.hidden:
                continue
            case _:
                yield from _element(token)


def _inline(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        match token.type:
            case "text" | "text_special" | "html_inline":
                yield _said(token.content)
            case "code_inline":
                yield f"<code>{_said(token.content)}</code>"
            case "softbreak" | "hardbreak":
                yield "<br>\n"
            case "link_open":
                target = escape(safe_line(str(token.attrs.get("href", ""))))
                yield f'<a href="{target}" rel="noreferrer noopener">'
            case "link_close":
                yield "</a>"
            case "image":
                source = str(token.attrs.get("src", ""))
                yield _said(f"![{token.content}]({source})")
            case _:
                yield from _element(token)


def _element(token: Token) -> Iterator[str]:
    """An element that is known; of any other what it holds."""
    name, _, _ = token.type.rpartition("_")
    if name in _ELEMENTS:
        yield _tag(_ELEMENTS[name], token)
    elif token.content:
        yield _said(token.content)


def _tag(element: str, token: Token) -> str:
    if token.nesting == 1:
        return f"<{element}>"
    return f"</{element}>\n" if token.block else f"</{element}>"


def _said(text: str) -> str:
    return escape(safe_text(text))


class _Parser(AgentMarkdown):
    """What is no address of the web is no link."""

    def validateLink(self, url: str) -> bool:  # noqa: N802 - the library's name
        return url.strip().lower().startswith(_LINKS)


@cache
def _parser() -> MarkdownIt:
    parser = _Parser({"html": False, "maxNesting": _DEEPEST})
    return parser.enable(["table", "strikethrough"])
