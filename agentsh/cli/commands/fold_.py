"""`agentsh fold`: put a dead branch of the tree away, or show it again. Nothing leaves the file.

Read next: agent/hiding.py.
"""

from __future__ import annotations

from typing import Annotated

from agentsh.cli.output import print_json
from agentsh.cli.parsing.options import EntryWord, Json, SessionDir, SessionWord
from agentsh.cli.parsing.words import Option


def fold_(
    session: SessionWord,
    entry: EntryWord,
    undo: Annotated[bool, Option("--undo", help="show it again")] = False,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Put a dead branch away in the tree; nothing leaves the file."""
    from agentsh.agent.hiding import fold_branch, unfold_branch
    from agentsh.cli.lookup.finding import change, said_entry

    with change(session, session_dir) as opened:
        target = said_entry(opened, entry)
        made = (unfold_branch if undo else fold_branch)(opened, target)
        if json:
            print_json({"session": opened.header.id, "entry": made.id})
    return 0
