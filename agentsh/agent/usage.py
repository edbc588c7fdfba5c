"""What entries took; and the meter that keeps the sum of a path while it grows.

Read next: growth.py, budget.py; providers/catalog.py for prices.
"""

from __future__ import annotations

from collections.abc import Iterable

from agentsh.agent.growth import grown, last_entry
from agentsh.messages import AssistantMessage, Usage
from agentsh.session.costs import added
from agentsh.session.entries import BranchSummary, Compaction, Entry, MessageBody, UsageRecord
from agentsh.session.session import Session


def spent(entries: Iterable[Entry], so_far: Usage | None = None) -> Usage:
    """What the answers and summaries of these entries took, on top of `so_far`."""
    total = so_far or Usage()
    for entry in entries:
        match entry.body:
            case MessageBody(AssistantMessage(usage=usage)):
                total = added(total, usage)
            case Compaction(usage=Usage() as usage) | BranchSummary(usage=Usage() as usage):
                total = added(total, usage)
            case UsageRecord(usage=usage):
                total = added(total, usage)
            case _:
                pass
    return total


class Meter:
    """What the live path took. It looks at each entry once, until the leaf moves."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._seen: tuple[Entry | None, Usage] | None = None

    def total(self) -> Usage:
        last = last_entry(self._session)
        gained = None if self._seen is None else grown(self._session, self._seen[0])
        if self._seen is None or gained is None:
            total = spent(self._session.live().entries)
        else:
            total = spent(gained, self._seen[1])
        self._seen = (last, total)
        return total
