"""The readable text of an HTML page, for an excerpt in an error message (E08, E09). Pure.

Not a parser: tags, scripts and styles go, nothing is rendered.
"""

from __future__ import annotations

import re
from typing import Final

_START: Final = r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype|html|head|body|title)\b"
_DROPPED: Final = r"<(script|style|svg|template)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)"
_TAG: Final = r"<[^>]*(?:>|\Z)"
_MOST: Final = 200
_FLAGS: Final = re.IGNORECASE | re.DOTALL


def is_html(text: str) -> bool:
    return re.match(_START, text[:2000], _FLAGS) is not None


def text_of_html(text: str) -> str:
    """A short excerpt: the title and the first words."""
    from html import unescape

    text = re.sub(_TAG, " ", re.sub(_DROPPED, " ", text[:100_000], flags=_FLAGS))
    text = " ".join(unescape(text).split())
    return text if len(text) <= _MOST else text[: _MOST - 1] + "…"
