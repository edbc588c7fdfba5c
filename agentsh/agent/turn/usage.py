"""What entries took; and the meter that keeps the sum of a path while it grows.

Read next: growth.py, budget.py; providers/catalog.py for prices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from agentsh.agent.config import Config, StatusFigures
from agentsh.agent.growth import Grown
from agentsh.agent.workbench import Workbench
from agentsh.context.projection import Context, spent_before
from agentsh.messages import AssistantMessage, Usage
from agentsh.session.file.session import Session
from agentsh.session.format.entries import (
    BranchSummary,
    Compaction,
    Custom,
    Entry,
    MessageBody,
    UsageRecord,
)
from agentsh.session.format.factcodec import decode_fact, name_of
from agentsh.session.format.facts import AsideLeft
from agentsh.session.search.costs import charges_of, total

if TYPE_CHECKING:  # it stands above what a turn is made of
    from agentsh.agent.turn.pressure import Gauge

_ASIDE_LEFT: Final = name_of(AsideLeft)
COSTING: Final = frozenset({"message", "compaction", "branch_summary", "usage"})
"""The types of entries that may have taken something."""


def spent(entries: Iterable[Entry], so_far: Usage | None = None) -> Usage:
    """What the answers and summaries of these entries took, on top of `so_far`."""
    total = so_far or Usage()
    for entry in entries:
        match entry.body:
            case MessageBody(AssistantMessage(usage=usage)):
                total = total + usage
            case Compaction(usage=Usage() as usage) | BranchSummary(usage=Usage() as usage):
                total = total + usage
            case UsageRecord(usage=usage):
                total = total + usage
            case _:
                pass
    return total


class Meter:
    """What the path took, all of it, with the side questions that were asked on it. It looks at
    each entry once, until the leaf moves or one is asked."""

    def __init__(self, session: Session) -> None:
        self._spent = Grown(
            session,
            lambda: _spent_on_path(session),
            lambda so_far, gained: spent(gained, so_far),
        )

    def total(self) -> Usage:
        return self._spent.value()


def _spent_on_path(session: Session) -> Usage:
    """With what the live branch lacks: as a compaction of ours says, else of those lines alone."""
    live = session.live()
    if live.complete:
        return spent(_with_asides(session, live.entries))
    for index, entry in reversed(tuple(enumerate(live.entries))):
        said = spent_before(entry.body) if isinstance(entry.body, Compaction) else None
        if said is not None:
            return spent(_with_asides(session, live.entries[index:]), said)
    read = {entry.id for entry in live.entries}
    tree = session.tree
    path = (each for each in tree.path(session.leaf) if each not in read)
    lines = (session.raw(each) for each in path if tree.kind(each) in COSTING)
    return spent(_with_asides(session, live.entries), total(charges_of(lines)).usage)


def _with_asides(session: Session, entries: Iterable[Entry]) -> Iterator[Entry]:
    """A side question stands beside the path, and the fact that it was left on it."""
    for entry in entries:
        yield entry
        if isinstance(entry.body, Custom) and entry.body.custom_type == _ASIDE_LEFT:
            fact = decode_fact(entry.body)
            if isinstance(fact, AsideLeft) and fact.question in session.tree:
                yield from map(session.entry, session.tree.children(fact.question)[:1])


def figures(
    config: Config,
    bench: Workbench,
    *,
    usage: Usage,
    context: Context,
    gauge: Gauge,
    saved: bool,
    allowed: tuple[str, ...],
) -> StatusFigures:
    """What the status shows."""
    tokens, estimated = gauge.weight(context)
    return StatusFigures(
        context_tokens=tokens,
        estimated=estimated,
        context_window=gauge.known_window(),
        usage=usage,
        cost=usage.cost.total,
        saved=saved,
        policy=bench.policy,
        sandbox=bench.sandbox is not None,
        endpoint=config.model.provider,
        model=config.model.model,
        thinking=config.thinking,
        cwd=str(bench.cwd),
        allowed=allowed,
    )
