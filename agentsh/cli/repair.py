"""`agentsh repair`: a new, sound file from the good part of a bad one. The bad one is only read."""

from __future__ import annotations

from pathlib import Path

from agentsh.cli.finding import find_session
from agentsh.cli.notices import warn
from agentsh.cli.output import print_lines
from agentsh.session.salvage import salvage
from agentsh.ui.sanitize import safe_line


def repair(session: str, to: str, *, session_dir: str | None) -> int:
    """Write it; say what was left out. Raises RefusedError where the new file exists."""
    target = Path(to).expanduser().absolute()
    done = salvage(find_session(session, session_dir), target)
    warn(f"line {problem.line}: {problem.kind}: {problem.text}" for problem in done.problems)
    print_lines([safe_line(str(done.path))])
    return 0
