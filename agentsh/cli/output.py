"""Results on stdout: lines of text, or one JSON value. Nothing else may print there."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from agentsh.ui.sanitize import safe_text

TYPE_CHECKING = False  # mypy takes it for true
if TYPE_CHECKING:
    from agentsh.jsontext import JsonValue


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
