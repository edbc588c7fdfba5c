"""`agentsh rename`: a name for a session; its file keeps its own."""

from __future__ import annotations

from typing import Annotated

from agentsh.cli.parsing.options import SessionDir, SessionWord
from agentsh.cli.parsing.words import Argument


def rename(
    session: SessionWord,
    name: Annotated[str, Argument(help="empty clears it")],
    session_dir: SessionDir = None,
) -> int:
    """Name a session."""
    from agentsh.cli.lookup.finding import change

    with change(session, session_dir) as opened:
        opened.rename(name)
    return 0
