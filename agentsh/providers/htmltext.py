"""The readable text of an HTML page, for an excerpt in an error message (E08, E09). Pure.

Not a parser: tags, scripts and styles go, a few entities are read, nothing is rendered. The
stdlib's `html` is left alone because it costs start-up time that only a broken gateway would use.
"""

from __future__ import annotations

import re
from typing import Final

_START: Final = r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype|html|head|body|title)\b"
_DROPPED: Final = r"<(script|style|svg|template)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)"
_TAG: Final = r"<[^>]*(?:>|\Z)"
_ENTITIES: Final = {
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
    "&#39;": "'",
    "&nbsp;": " ",
    "&amp;": "&",
}
_MOST: Final = 200
_FLAGS: Final = re.IGNORECASE | re.DOTALL


def is_html(text: str) -> bool:
    return re.match(_START, text[:2000], _FLAGS) is not None


def text_of_html(text: str) -> str:
    """A short excerpt: the title and the first words."""
    text = re.sub(_TAG, " ", re.sub(_DROPPED, " ", text[:100_000], flags=_FLAGS))
    for name, character in _ENTITIES.items():
        text = text.replace(name, character)
    text = " ".join(text.split())
    return text if len(text) <= _MOST else text[: _MOST - 1] + "…"
