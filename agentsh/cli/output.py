"""Results: lines of text or one JSON value on stdout, and what the exit code says of them.

Nothing else may print there.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from agentsh.sanitize import safe_text

if TYPE_CHECKING:
    from agentsh.jsontext import JsonValue

DAMAGED = 5
"""Exit code of a command that looked a file through and found damage in it (docs/cli.md)."""


def speak_json() -> None:
    """stdout is UTF-8 from here on, whatever the locale says: JSON is nothing else."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")


def print_json(value: JsonValue) -> None:
    """One JSON value and a line end, as UTF-8 whatever the locale says."""
    from agentsh.jsontext import dumps  # a list of lines needs none of it

    sys.stdout.flush()
    sys.stdout.buffer.write(dumps(value) + b"\n")
    sys.stdout.buffer.flush()


def print_lines(lines: Iterable[str]) -> None:
    """Lines of text; what the terminal cannot spell becomes `?`, what it would obey is shown.

    A pipe gets them as they are: a path or an id that is odd must still be the right one.
    """
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.flush()
    shown = map(safe_text, lines) if sys.stdout.isatty() else lines
    for line in shown:
        sys.stdout.buffer.write(f"{line}\n".encode(encoding, "replace"))
    sys.stdout.buffer.flush()


def columns() -> int | None:
    """How wide the terminal is that reads our lines; None where none does, or it does not say."""
    if not sys.stdout.isatty():
        return None
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except OSError:
        return None


def fitted(line: str, width: int | None) -> str:
    """A line in one row of a terminal that is so wide; whole where `width` is None."""
    if width is None or len(line) * 2 <= width or (line.isascii() and len(line) <= width):
        return line
    if line.isascii():
        return line[: width - 1] + "…"
    from unicodedata import combining, east_asian_width  # few lists need it

    used = end = 0
    for number, char in enumerate(line):
        used += 2 if east_asian_width(char) in "WF" else 0 if combining(char) else 1
        if used > width:
            return line[:end] + "…"
        if used < width:
            end = number + 1
    return line
