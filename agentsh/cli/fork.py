"""`agentsh fork`: a new session file with the path to an entry; the parent keeps its bytes."""

from __future__ import annotations

from agentsh.cli.finding import find_store, look_at
from agentsh.cli.notices import warn
from agentsh.cli.output import print_json, print_lines
from agentsh.session.fork import fork_session


def fork(session: str, *, at: str | None, json: bool, session_dir: str | None) -> int:
    """Make it, and print the new session's id."""
    with look_at(session, session_dir) as parent:
        target = parent.leaf if at is None else parent.resolve(at)
        forked = fork_session(parent, target, find_store(session_dir))
        warn(forked.notices)
        if json:
            print_json({"session": forked.id, "path": forked.path, "parent": parent.header.id})
        else:
            print_lines([forked.id])
    return 0
