"""Every setting in columns, as `/settings` lists it: in the picker, and in plain lines. Pure.

It stands alone: the picker belongs to the terminal, and plain lines load nothing of that.
Read next: ui/chat/configuring.py, ui/chat/plainchat.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agentsh.sanitize import safe_line

_WIDEST_NAME: Final = 40
_WIDEST_VALUE: Final = 80


def settings_columns(rows: Sequence[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """Name, value, source of each → (name and value, source); names and sources begin alike."""
    names = [safe_line(name, 100) for name, _, _ in rows]
    sources = [safe_line(source, 80) for _, _, source in rows]
    widest = min(_WIDEST_NAME, max(map(len, names), default=0))
    longest = max(map(len, sources), default=0)
    return [
        (f"{name:<{widest}}  {safe_line(value, 200)}", source.ljust(longest))
        for name, (_, value, _), source in zip(names, rows, sources, strict=True)
    ]


def short_source(source: str) -> str:
    """Of a file's path its end: the folder says whose it is."""
    parts = source.split("/")
    return source if not source.startswith("/") or len(parts) < 5 else "…/" + "/".join(parts[-2:])


def settings_lines(rows: Sequence[tuple[str, str, str]], words: str) -> list[str]:
    """Those that hold every word, for who reads line by line."""
    parts = words.lower().split()
    shown = [row for row in rows if all(part in " ".join(row).lower() for part in parts)]
    columns = settings_columns(shown)
    widest = min(_WIDEST_VALUE, max((len(text) for text, _ in columns), default=0))
    return [f"{text:<{widest}}  {source.rstrip()}" for text, source in columns]
