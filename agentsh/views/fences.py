"""Foreign text as Markdown that shows it as it is. Pure.

It stands alone because an export is one file with it, and an editor renders what it is told.
Read next: describe.py.
"""

from __future__ import annotations

import re

from agentsh.sanitize import safe_text


def fenced(text: str, language: str = "") -> str:
    """A block of code that nothing in the text can end."""
    text = safe_text(text).rstrip("\n")
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
