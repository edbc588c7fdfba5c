"""Words for the person, on stderr: warnings and errors, with nothing in them a terminal obeys.

A message may quote a server, a file name or an argument, so every one of them passes here.
Results go to stdout by the commands themselves.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from agentsh.errors import AgentshError
from agentsh.session.entries import Notice
from agentsh.ui.sanitize import safe_text


def notice_line(path: Path, notice: Notice) -> str:
    """What a reader of a session found and read around."""
    place = "" if notice.line is None else f"line {notice.line}: "
    return f"{path.name}: {place}{notice.text}"


def warn(texts: Iterable[str]) -> None:
    """One line each."""
    for text in texts:
        sys.stderr.write(f"agentsh: {safe_text(text)}\n")


def complain(error: AgentshError) -> None:
    """The error's sentence and what to do next."""
    warn([str(error)])
    if error.hint:
        sys.stderr.write(f"  {safe_text(error.hint)}\n")
