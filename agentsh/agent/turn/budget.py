"""What a session has cost so far, all of it, and whether it may go on: warn and stop limits.

Counted is every request in the session's file: other branches, summaries, what was spent before a
resume, and what a fork brought along from its parent. So a limit cannot be got round by going on
elsewhere in the tree. It is looked at before each request; the one that crosses the limit is over
by then, so the overshoot is stated. It asks nobody. Read next: loop.py, session/search/costs.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from agentsh.agent.config import CostLimits
from agentsh.agent.growth import Grown
from agentsh.agent.turn.usage import COSTING, spent
from agentsh.errors import RefusedError
from agentsh.messages import Usage
from agentsh.session.file.session import Session
from agentsh.session.format.facts import TurnEndCause
from agentsh.session.search.costs import charges_of, total


class BudgetVerdict(Struct, frozen=True):
    """What to tell, and why nothing more may be asked."""

    warning: str | None = None
    stop: str | None = None
    hint: str | None = None
    cause: TurnEndCause | None = None
    """Which limit stops it, where it is one of this run."""


class Spending(Struct, frozen=True):
    """What a session has cost, what of it a fork brought along, and the limits."""

    usage: Usage
    inherited: float
    warn: float | None
    stop: float | None


class Budget:
    """Of one session. Reads the file once, when it is first asked; then only what is new."""

    def __init__(
        self,
        session: Session,
        limits: CostLimits,
        has_price: Callable[[], bool] = lambda: True,
    ) -> None:
        """`has_price` says, perhaps after asking the endpoint, whether the model has one."""
        self._session = session
        self._limits = limits
        self._has_price = has_price
        self._spent = Grown(
            session,
            lambda: total(charges_of(self._lines())).usage,
            lambda so_far, gained: spent(gained, so_far),
        )
        self._before: float | None = None
        """What had been spent when this process first asked."""
        self._warned = False
        self._unpriced = False
        self._looked = Usage()

    def verdict(self) -> BudgetVerdict:
        """Before a request."""
        limits = self._limits
        if limits == CostLimits():
            return BudgetVerdict()
        is_priced = self._has_price()  # before the first request, so that it is counted as well
        usage = self._spent.value()
        cost = usage.cost.total
        self._before = cost if self._before is None else self._before
        is_uncounted = not is_priced and self._took_nothing(usage)
        run = cost - self._before
        if limits.run is not None and run >= limits.run:
            return BudgetVerdict(
                stop=f"stopped: this run has cost {_money(run)}, its limit is {_money(limits.run)}",
                hint="the session can go on with another --max-cost",
                cause="max_cost",
            )
        if limits.stop is not None and cost >= limits.stop:
            over = cost - limits.stop
            reason = f"stopped: this session has cost {_money(cost)}, which is the limit"
            if over > 0:
                reason = (
                    f"stopped: this session has cost {_money(cost)},"
                    f" {_money(over)} over the limit of {_money(limits.stop)}"
                )
            return BudgetVerdict(stop=reason, hint="raise [cost] stop in the settings to go on")
        return BudgetVerdict(warning=self._warning(usage, is_uncounted=is_uncounted))

    def check(self) -> None:
        """Raises RefusedError: nothing more may be asked."""
        verdict = self.verdict()
        if verdict.stop is not None:
            raise RefusedError(verdict.stop, hint=verdict.hint)

    def spending(self) -> Spending:
        charges = charges_of(self._lines())
        own = self._session.header.id
        copied = total(c for c in charges if c.is_copy(own)).usage.cost.total
        return Spending(self._spent.value(), copied, self._limits.warn, self._limits.stop)

    def _took_nothing(self, usage: Usage) -> bool:
        """Whether tokens were used since the last look, and none of them cost anything."""
        before, self._looked = self._looked, usage
        return usage.total_tokens > before.total_tokens and usage.cost == before.cost

    def _warning(self, usage: Usage, *, is_uncounted: bool) -> str | None:
        """Said once."""
        warn, cost = self._limits.warn, usage.cost.total
        if warn is not None and cost >= warn and not self._warned:
            self._warned = True
            stop = self._limits.stop
            more = "" if stop is None else f"; it stops at {_money(stop)}"
            return f"this session has cost {_money(cost)}, over {_money(warn)} ([cost] warn){more}"
        if is_uncounted and not self._unpriced:
            self._unpriced = True
            names = "--max-cost" if self._limits.run is not None else "the limits of [cost]"
            return (
                f"no price of this model is known, so {names} cannot be kept: its"
                " requests are not in the sums (a price may be set under [models])"
            )
        return None

    def _lines(self) -> Iterator[bytes]:
        session = self._session
        tree = session.tree
        for entry in tuple(tree):
            if tree.kind(entry) in COSTING:
                yield session.raw(entry)


def _money(amount: float) -> str:
    return f"${amount:.2f}" if amount >= 1 else f"${amount:.4f}"
