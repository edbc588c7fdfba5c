"""What one branch's session took by itself, without what its trunk had spent before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agentsh.agent.turn.usage import COSTING
from agentsh.errors import SessionError
from agentsh.explore.log.state import Exploration
from agentsh.messages import Usage
from agentsh.session.file.session import Session, open_session
from agentsh.session.search.costs import Sum, charges_of, total


def spent_in(session: Session) -> Sum:
    """All requests that this session stamped, summaries and titles included."""
    own = session.header.id
    return total(charge for charge in charges_of(_lines(session)) if not charge.is_copy(own))


def spent_in_file(path: Path) -> Sum:
    """The same of a file that another process may write; nothing, where it is not there yet."""
    try:
        with open_session(path, write=False) as session:
            return spent_in(session)
    except SessionError:
        return Sum()


def spent_so_far(now: Exploration) -> Usage:
    """What earlier runs of it took, those that were cut included."""
    spent = Usage()
    for row in now.rows:
        for started in (*row.earlier, *((row.started,) if row.started else ())):
            is_known = started is row.started and row.turn is not None and row.status != "running"
            if is_known and row.turn is not None:
                spent = spent + row.turn.usage
            elif started.path:
                spent = spent + spent_in_file(Path(started.path)).usage
    return spent


def _lines(session: Session) -> Iterator[bytes]:
    tree = session.tree
    return (session.raw(entry) for entry in tuple(tree) if tree.kind(entry) in COSTING)
