"""What a path gained since a look at it, so that what was computed then need not be made anew.

Sound because a path changes in three ways only: this process appends to it; the leaf moves, which
is a fact on the new path; appends are withdrawn. The last entry of the look is known by identity:
one that was withdrawn may give its id to another. It computes nothing itself.
Read next: projector.py, usage.py.
"""

from __future__ import annotations

from agentsh.session.entries import Custom, Entry
from agentsh.session.session import Session

# a path that grew more since the last look is read whole: that is no slower
MAX_STEPS = 4096


def last_entry(session: Session) -> Entry | None:
    """The leaf, to look from later."""
    leaf = session.leaf
    return None if leaf is None else session.entry(leaf)


def grown(session: Session, since: Entry | None) -> tuple[Entry, ...] | None:
    """The path's entries after `since`, oldest first; None where that entry may not be on it."""
    found: list[Entry] = []
    at = last_entry(session)
    while at is not since:
        if at is None or len(found) == MAX_STEPS:
            return None
        if isinstance(at.body, Custom) and at.body.custom_type == "agentsh.nav":
            return None
        found.append(at)
        at = None if at.parent is None else session.entry(at.parent)
    return tuple(reversed(found))
