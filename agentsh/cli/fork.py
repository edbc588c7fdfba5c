"""`agentsh fork`: a new session file with the path to an entry; the parent keeps its bytes."""

from __future__ import annotations

from pathlib import Path

from agentsh.cli.finding import find_store, look_at
from agentsh.cli.notices import warn
from agentsh.cli.output import print_json, print_lines
from agentsh.session.fork import fork_session
from agentsh.session.listing import read_header


def fork(session: str, *, at: str | None, json: bool, session_dir: str | None) -> int:
    """Make it, and print the new session's id."""
    store = find_store(session_dir)
    with look_at(session, session_dir) as parent:
        target = parent.leaf if at is None else parent.resolve(at)
        # a file that somebody sent does not choose the folder in which its child will work
        is_own = parent.path is not None and store.owns(parent.path)
        here = None if is_own else str(Path.cwd())
        path = fork_session(parent, target, store, cwd=here, tell=lambda words: warn([words]))
        child = read_header(path)
        assert child is not None  # it has just been published, whole
        if json:
            print_json({"session": child.id, "path": str(path), "parent": parent.header.id})
        else:
            print_lines([child.id])
    return 0
