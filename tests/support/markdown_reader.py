"""Markdown as somebody's program shows it, and what of it acts: tags, pictures, links that run."""

from __future__ import annotations

import html.parser

from markdown_it import MarkdownIt

_SHOWN = """
    p br hr em strong s code pre ul ol li blockquote a table thead tbody tr th td h1 h2 h3 h4 h5 h6
"""
_OUR_OWN = frozenset(_SHOWN.split())


class _Reader(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 - a reader that forbids nothing
        return True


class Live(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            target = (value or "").strip().lower()
            if name == "href" and ":" in target.split("/", 1)[0]:
                if not target.startswith(("http:", "https:", "mailto:")):
                    self.found.append(target)
            elif name not in ("href", "title", "class", "start", "style"):
                self.found.append(f"{tag} {name}")
        if tag not in _OUR_OWN:
            self.found.append(tag)


def live_in(text: str) -> list[str]:
    """The tags and targets that act, with and without tables."""
    found: list[str] = []
    for more in ((), ("table", "strikethrough")):
        reader = _Reader("commonmark", {"maxNesting": 1000}).enable(list(more))
        page = Live()
        page.feed(reader.render(text))
        page.close()
        found += page.found
    return found
