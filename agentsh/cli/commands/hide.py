"""`agentsh hide`, `agentsh unhide`: what the model is no longer sent of the current path, or again.

The entries stay in the file and in every view but `model`. Read next: agent/hiding.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from agentsh.cli.output import print_json
from agentsh.cli.parsing.options import Json, SessionDir, SessionWord
from agentsh.cli.parsing.words import Argument, Option
from agentsh.errors import UsageError

if TYPE_CHECKING:
    from agentsh.session.file.session import Session
    from agentsh.session.format.entries import Entry

Entries = Annotated[
    list[str],
    Argument(
        metavar="ENTRY",
        help="id, unique prefix, label or `leaf`; several, if you like",
        complete="entries",
    ),
]


def hide(
    session: SessionWord,
    entry: Entries,
    text: Annotated[
        str | None, Option("--with", metavar="TEXT", help="what the model reads instead")
    ] = None,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Hide entries from the model; the file keeps them."""
    from agentsh.agent.hiding import hide_entries
    from agentsh.cli.lookup.finding import change, said_entry

    if text is not None and not text.strip():
        raise UsageError("--with needs a text", hint="without --with the entry is only hidden")
    with change(session, session_dir) as opened:
        targets = [said_entry(opened, word) for word in entry]
        _tell(opened, hide_entries(opened, targets, text), json)
    return 0


def unhide(
    session: SessionWord,
    entry: Entries,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Let the model read hidden entries again."""
    from agentsh.agent.hiding import unhide_entries
    from agentsh.cli.lookup.finding import change, said_entry

    with change(session, session_dir) as opened:
        targets = [said_entry(opened, word) for word in entry]
        _tell(opened, unhide_entries(opened, targets), json)
    return 0


def _tell(session: Session, edits: Sequence[Entry], json: bool) -> None:
    if json:
        made = [edit.id for edit in edits]
        print_json({"session": session.header.id, "entry": made[-1], "entries": [*made]})
