"""Words for the person, on stderr: warnings and errors, with nothing in them a terminal obeys.

A message may quote a server, a file name or an argument, so every one of them passes here.
Results go to stdout by the commands themselves.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from agentsh.errors import AgentshError
from agentsh.sanitize import safe_text

if TYPE_CHECKING:
    from agentsh.session.format.entries import ReadNotice


def notice_of(path: Path, notice: ReadNotice) -> str:
    """What a reader of a session found and read around, with the file."""
    from agentsh.views.describe import notice_line

    return f"{path.name}: {notice_line(notice)}"


def agrees(question: str, written: TextIO, read: TextIO) -> bool:
    """Ask as a line; Enter alone is no."""
    written.write(f"{safe_text(question)} [y/N] ")
    written.flush()
    return read.readline().strip().lower() in ("y", "yes")


def unread_words(unread: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each session file that could not be read."""
    return (f"{path} cannot be read: {reason}" for path, reason in sorted(unread.items()))


def warn(texts: Iterable[str]) -> None:
    """One line each."""
    for text in texts:
        sys.stderr.write(f"agentsh: {safe_text(text)}\n")


def complain(error: AgentshError) -> None:
    """The error's sentence and what to do next."""
    warn([str(error)])
    if error.hint:
        hint = safe_text(error.hint).replace("\n", "\n  ")
        sys.stderr.write(f"  {hint}\n")
