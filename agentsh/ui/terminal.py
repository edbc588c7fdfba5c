"""What the program talks to: streams, size, colours, abilities. One value, made from facts.

Reading the environment is the cli's; `describe_terminal` turns what it read into a Terminal. So
every view can be tested with any terminal. `size` alone is asked anew each time, since windows
change. It draws nothing. Read next: plain.py, render.py.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import IntEnum
from typing import Literal, TextIO, TypeAlias

from msgspec import Struct

Background: TypeAlias = Literal["dark", "light", "unknown"]


class Colours(IntEnum):
    """How many colours may be used."""

    NONE = 0
    ANSI = 16
    EIGHT_BIT = 256
    TRUE = 1 << 24


class Terminal(Struct, frozen=True):
    """Streams and what they can do. `dumb`: no control codes at all; `unicode`: box characters."""

    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    colours: Colours = Colours.NONE
    dumb: bool = False
    unicode: bool = True
    background: Background = "unknown"
    tmux: bool = False
    """Sequences for the outer terminal must be wrapped."""
    reflows: bool = True
    """What is shown is wrapped anew when the window's width changes."""
    columns: int | None = None
    """Width and height that the user's COLUMNS and LINES insist on."""
    rows: int | None = None

    @property
    def is_interactive(self) -> bool:
        """A person can type at it, with an editor: both ends are a terminal that is not dumb."""
        return self.stdin_tty and self.stdout_tty and not self.dumb

    @property
    def stdin_tty(self) -> bool:
        return _is_tty(self.stdin)

    @property
    def stdout_tty(self) -> bool:
        return _is_tty(self.stdout)

    @property
    def stderr_tty(self) -> bool:
        return _is_tty(self.stderr)

    @property
    def size(self) -> tuple[int, int]:
        """(columns, rows) now; 80 by 24 where nobody knows."""
        columns, rows = 0, 0
        for stream in (self.stdout, self.stderr, self.stdin):
            try:
                columns, rows = os.get_terminal_size(stream.fileno())
                break
            except (OSError, ValueError, AttributeError):
                continue
        return self.columns or columns or 80, self.rows or rows or 24


def describe_terminal(
    stdin: TextIO, stdout: TextIO, stderr: TextIO, environ: Mapping[str, str]
) -> Terminal:
    """The terminal that these streams and this environment tell of. Pure but for `isatty`."""
    term = environ.get("TERM", "")
    dumb = term in ("dumb", "unknown", "")
    return Terminal(
        stdin,
        stdout,
        stderr,
        colours=_colours(term, environ) if _is_tty(stdout) and not dumb else Colours.NONE,
        dumb=dumb,
        unicode=_encodes_unicode(stdout),
        background=_background(environ.get("COLORFGBG", "")),
        tmux=bool(environ.get("TMUX")),
        reflows=_reflows(term, environ),
    )


def _colours(term: str, environ: Mapping[str, str]) -> Colours:
    if environ.get("NO_COLOR"):
        return Colours.NONE
    if environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return Colours.TRUE
    if "256color" in term or "kitty" in term or "ghostty" in term:
        return Colours.EIGHT_BIT
    return Colours.ANSI


def _reflows(term: str, environ: Mapping[str, str]) -> bool:
    """All in wide use do, but for xterm itself, screen, and the console of Linux."""
    if environ.get("TMUX"):
        return True
    return not (environ.get("XTERM_VERSION") or environ.get("STY") or term == "linux")


def _background(fgbg: str) -> Background:
    """COLORFGBG is `fg;bg` or `fg;default;bg`; 7 and 9–15 are light."""
    last = fgbg.rpartition(";")[2]
    if not last.isdigit():
        return "unknown"
    return "light" if int(last) == 7 or 9 <= int(last) <= 15 else "dark"


def _encodes_unicode(stream: TextIO) -> bool:
    return (getattr(stream, "encoding", None) or "ascii").lower().replace("-", "") in (
        "utf8",
        "utf16",
        "utf32",
    )


def _is_tty(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (ValueError, AttributeError):
        return False
