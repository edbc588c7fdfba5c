"""What a session has cost so far, all of it, and whether it may go on: warn and stop limits.

Counted is every request in the session's file: other branches, summaries, what was spent before a
resume, and what a fork brought along from its parent. So a limit cannot be got round by going on
elsewhere in the tree. It is looked at before each request; the one that crosses the limit is over
by then, so the overshoot is stated. It asks nobody. Read next: loop.py, session/costs.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from agentsh.agent.config import CostLimits
from agentsh.agent.growth import grown, last_entry
from agentsh.agent.usage import spent
from agentsh.messages import Usage
from agentsh.session.costs import charges_of, total
from agentsh.session.entries import Entry
from agentsh.session.session import Session

_COSTING = frozenset({"message", "compaction", "branch_summary", "usage"})


class Verdict(Struct, frozen=True):
    """What to tell, and why nothing more may be asked."""

    warning: str | None = None
    stop: str | None = None
    hint: str | None = None


class Spending(Struct, frozen=True):
    """For a person: all of the session, what of it a fork brought along, and the limits."""

    usage: Usage
    inherited: float
    warn: float | None
    stop: float | None


class Budget:
    """Of one session. Reads the file once, when it is first asked; then only what is new."""

    def __init__(self, session: Session, limits: CostLimits) -> None:
        self._session = session
        self._limits = limits
        self._seen: tuple[Entry | None, Usage] | None = None
        self._warned = False
        self._unpriced = False

    def verdict(self) -> Verdict:
        """Before a request."""
        limits = self._limits
        if limits.warn is None and limits.stop is None:
            return Verdict()
        usage = self._total()
        cost = usage.cost.total
        if limits.stop is not None and cost >= limits.stop:
            over = cost - limits.stop
            words = f"stopped: this session has cost {_money(cost)}, which is the limit"
            if over > 0:
                words = (
                    f"stopped: this session has cost {_money(cost)},"
                    f" {_money(over)} over the limit of {_money(limits.stop)}"
                )
            return Verdict(stop=words, hint="raise [cost] stop in the settings to go on")
        return Verdict(warning=self._warning(usage))

    def spending(self) -> Spending:
        charges = charges_of(self._lines())
        own = self._session.header.id
        copied = total(c for c in charges if c.is_copy(own)).usage.cost.total
        return Spending(self._total(), copied, self._limits.warn, self._limits.stop)

    def _warning(self, usage: Usage) -> str | None:
        """Said once."""
        warn, cost = self._limits.warn, usage.cost.total
        if warn is not None and cost >= warn and not self._warned:
            self._warned = True
            stop = self._limits.stop
            more = "" if stop is None else f"; it stops at {_money(stop)}"
            return f"this session has cost {_money(cost)}, over {_money(warn)} ([cost] warn){more}"
        if not cost and usage.output and not self._unpriced:
            self._unpriced = True
            return "no price of this model is known, so the limits of [cost] cannot hold"
        return None

    def _total(self) -> Usage:
        last = last_entry(self._session)
        gained = None if self._seen is None else grown(self._session, self._seen[0])
        if self._seen is None or gained is None:
            usage = total(charges_of(self._lines())).usage
        else:
            usage = spent(gained, self._seen[1])
        self._seen = (last, usage)
        return usage

    def _lines(self) -> Iterator[bytes]:
        session = self._session
        tree = session.tree
        for entry in tuple(tree):
            if tree.kind(entry) in _COSTING:
                yield session.raw(entry)


def _money(amount: float) -> str:
    return f"${amount:.2f}" if amount >= 1 else f"${amount:.4f}"
