"""Who may send a request now: limits of the whole, one limiter for each endpoint, the lead. Pure.

Events and a clock go in, decisions come out; nothing here waits. A runner states the tokens and the
cost that it expects; its request goes out if what was spent, what is under way and this one stay
below the limits. What a server says about waiting holds back every branch of that endpoint, and the
number under way is halved, to grow again by one for each 10 s without a refusal. Of branches that
begin with the same long prefix, one asks first: the others find it cached. Read next:
coordinator.py.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct

SHARED_TOKENS = 4096
"""Where branches share that many, waiting for the first answer's beginning pays."""
MOST_HELD = 600.0
GROWTH = 10.0
MINUTE = 60.0
MENTIONED = 5.0
"""Seconds of waiting in all that are worth a word."""


class EndpointBounds(Struct, frozen=True):
    """The settings of one endpoint; None: no such bound."""

    requests: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


class PermitNeed(Struct, frozen=True):
    """One request that wants to go out, and what its runner expects of it.

    `group`: what it shares its first tokens with, where this is a branch's first request.
    """

    n: int
    endpoint: str
    tokens: int
    cost: float
    group: str | None = None


class Go(Struct, frozen=True):
    n: int


class No(Struct, frozen=True):
    """It can never go: a limit of the whole, or it has waited too long (`is_limit` False)."""

    n: int
    why: str
    is_limit: bool = True


PermitDecision: TypeAlias = Go | No


class _Waiting(Struct):
    """`held`: since when it waits for its endpoint's sake, and not for money or a lead."""

    need: PermitNeed
    since: float
    held: float | None = None


class _Limiter:
    """One endpoint's."""

    def __init__(self, bounds: EndpointBounds) -> None:
        self.bounds = bounds
        self.held_until = 0.0
        self.is_probing = False
        """After a refusal, until one request that went out since was answered."""
        self.probe: int | None = None
        """That one."""
        self.refused_at = 0.0
        self.most: float = bounds.requests or float("inf")
        self.sent: deque[tuple[float, int]] = deque()
        self.sent_first = float("inf")
        self.waited = 0.0

    def refuse(self, now: float, wait: float, under_way: int) -> None:
        self.held_until = max(self.held_until, now + wait)
        self.is_probing, self.probe = True, None
        self.refused_at = self.held_until
        self.most = max(1, min(self.most, max(under_way, 1)) // 2)

    def allowed(self, now: float) -> float:
        """How many may be under way."""
        ceiling: float = self.bounds.requests or float("inf")
        grown = self.most + max(0.0, now - self.refused_at) // GROWTH
        return min(ceiling, grown)

    def opens_at(self, now: float, tokens: int, under_way: int) -> float | None:
        """When such a request may go: now, a later time, or None: when another one has ended."""
        if now < self.held_until:
            return self.held_until
        if self.is_probing:
            return None if self.probe is not None else now
        if under_way >= self.allowed(now):
            return None
        while self.sent and self.sent[0][0] <= now - MINUTE:
            self.sent.popleft()
        per_minute = self.bounds.requests_per_minute
        if per_minute is not None and len(self.sent) >= per_minute:
            return self.sent[-per_minute][0] + MINUTE
        most = self.bounds.tokens_per_minute
        if most is not None and self.sent and sum(t for _, t in self.sent) + tokens > most:
            return self.sent[0][0] + MINUTE
        return now


class PermitBook:
    """Of one exploration. `spent_cost` and `spent_tokens`: what earlier runs of it took."""

    def __init__(
        self,
        bounds: Mapping[str, EndpointBounds],
        *,
        cost: float | None,
        tokens: int | None,
        lead: float,
        spent_cost: float = 0.0,
        spent_tokens: int = 0,
    ) -> None:
        self._cost, self._tokens, self._lead = cost, tokens, lead
        self.spent_cost, self.spent_tokens = spent_cost, spent_tokens
        self._bounds = bounds
        self._limiters: dict[str, _Limiter] = {}
        self._waiting: deque[_Waiting] = deque()
        self._under_way: dict[int, PermitNeed] = {}
        self._last = 0.0
        self._leads: dict[str, float | None] = {}
        """Group → until when the others wait; None: its first answer has begun."""
        self._leader: dict[int, str] = {}

    # ---- events --------------------------------------------------------------------------------

    def ask(self, need: PermitNeed, now: float) -> None:
        self._waiting.append(_Waiting(need, now))

    def began(self, n: int) -> None:
        """The first bytes of its answer are there."""
        group = self._leader.pop(n, None)
        if group is not None:
            self._leads[group] = None

    def used(self, n: int, cost: float, tokens: int) -> None:
        """Its request was answered, or ended otherwise, and took that."""
        need = self._under_way.pop(n, None)
        self.began(n)
        self.spent_cost += cost
        self.spent_tokens += tokens
        if need is not None and (limiter := self._limiter(need.endpoint)).probe == n:
            limiter.is_probing, limiter.probe = False, None

    def refused(self, n: int, wait: float, now: float) -> None:
        """The server said to wait; the request is asked for anew."""
        need = self._under_way.pop(n, None)
        self.began(n)
        if need is not None:
            limiter = self._limiter(need.endpoint)
            limiter.refuse(now, wait, self._busy(need.endpoint) + 1)

    def gone(self, n: int) -> None:
        """Its runner has ended: nothing of it waits or is under way."""
        need = self._under_way.pop(n, None)
        self.began(n)
        if need is not None and (limiter := self._limiter(need.endpoint)).probe == n:
            limiter.probe = None
        self._waiting = deque(each for each in self._waiting if each.need.n != n)

    # ---- decisions -----------------------------------------------------------------------------

    def decide(self, now: float) -> tuple[list[PermitDecision], float | None]:
        """Who may go or never will, and when to look again at the latest (None: at an event)."""
        self._last = now
        decisions: list[PermitDecision] = []
        later: deque[_Waiting] = deque()
        wakes: list[float] = []
        for each in self._waiting:
            decision, wake = self._judge(each, now)
            if decision is None:
                later.append(each)
                if wake is not None:
                    wakes.append(wake)
            else:
                decisions.append(decision)
        self._waiting = later
        return decisions, min(wakes, default=None)

    def wait_words(self, parallel: int) -> Iterator[str]:
        """How long branches waited for each endpoint's sake, and how many would have done.

        `parallel`: how many were at work at once. Of those the ones that waited, in the mean over
        the whole time, were too many.
        """
        begun = min((each.sent_first for each in self._limiters.values()), default=0.0)
        whole = self._last - begun
        for name, each in self._limiters.items():
            if each.waited < MENTIONED or whole <= 0:
                continue
            enough = max(1, math.ceil(parallel - each.waited / whole))
            done = f"; -j {enough} would have done" if enough < parallel else ""
            yield f"branches waited {each.waited:.0f} s in all for {name}{done}"

    def _judge(self, each: _Waiting, now: float) -> tuple[PermitDecision | None, float | None]:
        need = each.need
        if not self._fits(need):
            if self._under_way:
                return None, None
            return No(need.n, self._words(need)), None
        if now - each.since >= MOST_HELD:
            return No(need.n, f"waited {MOST_HELD:.0f} s for {need.endpoint}", False), None
        until = self._led_until(need, now)
        if until > now:
            return None, until
        limiter = self._limiter(need.endpoint)
        opens = limiter.opens_at(now, need.tokens, self._busy(need.endpoint))
        if (opens is None or opens > now) and each.held is None:
            each.held = now
        if opens is None:
            return None, limiter.refused_at + GROWTH if limiter.refused_at > now - GROWTH else None
        if opens > now:
            return None, opens
        limiter.waited += 0.0 if each.held is None else now - each.held
        limiter.sent.append((now, need.tokens))
        limiter.sent_first = min(limiter.sent_first, now)
        self._under_way[need.n] = need
        if limiter.is_probing:
            limiter.probe = need.n
        self._lead_with(need, now)
        return Go(need.n), None

    def _fits(self, need: PermitNeed) -> bool:
        going = self._under_way.values()
        if self._cost is not None:
            cost = self.spent_cost + sum(each.cost for each in going) + need.cost
            if cost > self._cost:
                return False
        if self._tokens is None:
            return True
        return self.spent_tokens + sum(each.tokens for each in going) + need.tokens <= self._tokens

    def _words(self, need: PermitNeed) -> str:
        if self._cost is not None and self.spent_cost + need.cost > self._cost:
            return (
                f"the cost limit of {self._cost:g}: {self.spent_cost:.4g} are spent and the next"
                f" request takes about {need.cost:.4g}"
            )
        return (
            f"the token limit of {self._tokens}: {self.spent_tokens} are used and the next request"
            f" takes about {need.tokens}"
        )

    def _led_until(self, need: PermitNeed, now: float) -> float:
        """Until when the beginning of another branch's answer is waited for."""
        group = _shared(need)
        if group is None or group not in self._leads:
            return now
        until = self._leads[group]
        return now if until is None else until

    def _lead_with(self, need: PermitNeed, now: float) -> None:
        group = _shared(need)
        if group is not None and group not in self._leads:
            self._leads[group] = now + self._lead
            self._leader[need.n] = group

    def _busy(self, endpoint: str) -> int:
        return sum(each.endpoint == endpoint for each in self._under_way.values())

    def _limiter(self, endpoint: str) -> _Limiter:
        limiter = self._limiters.get(endpoint)
        if limiter is None:
            limiter = _Limiter(self._bounds.get(endpoint, EndpointBounds()))
            self._limiters[endpoint] = limiter
        return limiter


def _shared(need: PermitNeed) -> str | None:
    """What it shares its beginning with, where that is long enough to be waited for."""
    return need.group if need.tokens >= SHARED_TOKENS else None
