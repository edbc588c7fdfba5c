"""`agentsh repair`: a new, sound file from the good part of a bad one. The bad one is only read."""

from __future__ import annotations

from typing import Annotated

from agentsh.cli.notices import warn
from agentsh.cli.output import print_lines
from agentsh.cli.parsing.options import SessionDir, SessionWord
from agentsh.cli.parsing.words import Option
from agentsh.sanitize import safe_line


def repair(
    session: SessionWord,
    to: Annotated[str, Option("--to", metavar="FILE", help="the new file")],
    session_dir: SessionDir = None,
) -> int:
    """Write a sound file from the good part of a bad one."""
    from agentsh.cli.lookup.finding import find_session
    from agentsh.files import from_home
    from agentsh.session.exchange.salvage import salvage

    target = from_home(to).absolute()
    done = salvage(find_session(session, session_dir), target)
    warn(f"line {problem.line}: {problem.kind}: {problem.text}" for problem in done.problems)
    print_lines([safe_line(str(done.path))])
    return 0
