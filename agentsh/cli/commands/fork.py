"""`agentsh fork`: a new session file with the path to an entry; the parent keeps its bytes."""

from __future__ import annotations

import os
from pathlib import Path

from agentsh.cli.notices import warn
from agentsh.cli.output import print_json, print_lines
from agentsh.cli.parsing.options import At, Json, SessionDir, SessionWord


def fork(
    session: SessionWord, at: At = None, json: Json = False, session_dir: SessionDir = None
) -> int:
    """Make a new session from a path of another; print its id."""
    from agentsh.cli.lookup.finding import look_at
    from agentsh.cli.lookup.forking import fork_here
    from agentsh.cli.setup.paths import find_places
    from agentsh.session.store.store import Store
    from agentsh.session.store.summary import read_header

    places = find_places(os.environ, session_dir)
    store = Store(places.sessions, flat=places.flat)
    with look_at(session, session_dir) as parent:
        target = parent.leaf if at is None else parent.resolve(at)
        # a file that somebody sent does not choose the folder in which its child will work
        is_own = parent.path is not None and store.owns(parent.path)
        here = None if is_own else str(Path.cwd())
        path = fork_here(places, store, parent, target, cwd=here, tell=lambda words: warn([words]))
        child = read_header(path)
        assert child is not None  # it has just been published, whole
        if json:
            print_json({"session": child.id, "path": str(path), "parent": parent.header.id})
        else:
            print_lines([child.id])
    return 0
