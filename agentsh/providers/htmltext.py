"""The readable text of an HTML page, for an excerpt in an error message (E08, E09). Pure.

Not a parser: tags, scripts and styles go, a few entities are read, nothing is rendered. The
stdlib's `html` is left alone because it costs start-up time that only a broken gateway would use.
"""

from __future__ import annotations

import re
from typing import Final

_START = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype|html|head|body|title)\b", re.I | re.S
)
_DROPPED = re.compile(
    r"<(script|style|svg|template)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)", re.I | re.S
)
_TAG = re.compile(r"<[^>]*(?:>|\Z)")
_ENTITIES: Final = {
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
    "&#39;": "'",
    "&nbsp;": " ",
    "&amp;": "&",
}
_MOST: Final = 200


def is_html(text: str) -> bool:
    return _START.match(text[:2000]) is not None


def text_of_html(text: str) -> str:
    """A short excerpt: the title and the first words."""
    text = _TAG.sub(" ", _DROPPED.sub(" ", text[:100_000]))
    for name, character in _ENTITIES.items():
        text = text.replace(name, character)
    text = " ".join(text.split())
    return text if len(text) <= _MOST else text[: _MOST - 1] + "…"
