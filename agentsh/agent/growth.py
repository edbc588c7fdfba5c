"""What a path gained since a look at it, so that what was computed then need not be made anew.

Sound because a path changes in two ways only: this process appends to it, or the leaf moves, which
is a fact on the new path. It computes nothing itself. Read next: projector.py, usage.py.
"""

from __future__ import annotations

from agentsh.session.entries import Custom, Entry, EntryId
from agentsh.session.session import Session

# a path that grew more since the last look is read whole: that is no slower
MAX_STEPS = 4096


def grown(session: Session, since: EntryId | None) -> tuple[Entry, ...] | None:
    """The path's entries after `since`, oldest first; None where the leaf may have moved."""
    found: list[Entry] = []
    at = session.leaf
    while at != since:
        if at is None or len(found) == MAX_STEPS:
            return None
        entry = session.entry(at)
        if isinstance(entry.body, Custom) and entry.body.custom_type == "agentsh.nav":
            return None
        found.append(entry)
        at = entry.parent
    return tuple(reversed(found))
