"""Words for the person, on stderr: warnings and errors, with nothing in them a terminal obeys.

A message may quote a server, a file name or an argument, so every one of them passes here.
Results go to stdout by the commands themselves.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
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


@contextmanager
def waiting_for(what: str) -> Iterator[None]:
    """What the block waits for; a terminal shows it, once it takes long."""
    from agentsh.ui.terminal import describe_terminal
    from agentsh.ui.text.waiting import Ticker

    began = time.monotonic()
    ticker = Ticker(describe_terminal(sys.stdin, sys.stdout, sys.stderr, os.environ))
    ticker.start(lambda: f"waiting for {what} {time.monotonic() - began:.0f} s")
    try:
        yield
    finally:
        ticker.stop()


def complain(error: AgentshError) -> None:
    """The error's sentence and what to do next."""
    warn([str(error)])
    if error.hint:
        hint = safe_text(error.hint).replace("\n", "\n  ")
        sys.stderr.write(f"  {hint}\n")
