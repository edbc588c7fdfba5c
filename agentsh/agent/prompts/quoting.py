"""How a file's text stands in a prompt: whoever attaches one, it reads alike. Pure.

It stands alone because the command line and protocols attach files, and neither knows the other.
Read next: expansion.py.
"""

from __future__ import annotations

from typing import Final

MOST_TEXT: Final = 256 * 1024
"""Bytes of one file; what is larger the model can read in parts."""


def quoted_file(name: str, text: str) -> str:
    """`name`: its path."""
    return f'<file path="{name}">\n{text}\n</file>'
