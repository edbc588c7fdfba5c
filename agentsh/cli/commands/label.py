"""`agentsh label`: a name for an entry; the place stays. `leaf` is what was said last."""

from __future__ import annotations

from typing import Annotated

from agentsh.cli.parsing.options import EntryWord, SessionDir, SessionWord
from agentsh.cli.parsing.words import Argument


def label(
    session: SessionWord,
    entry: EntryWord,
    name: Annotated[str | None, Argument(help="none clears it")] = None,
    session_dir: SessionDir = None,
) -> int:
    """Name an entry."""
    from agentsh.cli.lookup.finding import change, said_entry

    with change(session, session_dir) as opened:
        opened.label(said_entry(opened, entry), name or None)
    return 0
