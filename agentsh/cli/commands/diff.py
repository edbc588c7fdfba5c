"""`agentsh diff`: what differs between two places of a session: messages, and working files.

Looks only. What differs is agent/files/differences.py's, and how it reads is
ui/text/differences.py's: the chat's /diff shows the same.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from agentsh.cli.notices import warn
from agentsh.cli.output import print_json, print_lines
from agentsh.cli.parsing.options import Json, SessionDir, SessionWord
from agentsh.cli.parsing.words import Argument


def diff(
    session: SessionWord,
    a: Annotated[str, Argument(metavar="A", help="an entry, as for `checkout`")],
    b: Annotated[str, Argument(metavar="B", help="another one")],
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Show what differs between two places: messages and files."""
    from agentsh.agent.files.differences import compare
    from agentsh.cli.lookup.finding import find_store, look_at
    from agentsh.cli.setup.paths import find_places
    from agentsh.remote.values.differences import differences_json
    from agentsh.tools.undo.checkpointer import Checkpointer
    from agentsh.ui.text.differences import difference_lines

    with look_at(session, session_dir) as opened:
        home = find_store(session_dir).cwd_of(opened.header.id, opened.header.cwd)
        places = find_places(os.environ, session_dir)
        checkpointer = Checkpointer(Path(home), places.checkpoints, os.environ)
        differences = compare(opened, checkpointer, opened.resolve(a), opened.resolve(b))
        if json:
            print_json(differences_json(opened.header.id, differences))
        else:
            warn(differences.notices)
            print_lines(line.text for line in difference_lines(differences))
    return 0
