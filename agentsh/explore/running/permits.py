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
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct

SHARED_TOKENS = 4096
"""Where branches share that many, waiting for the first answer's beginning pays."""
MOST_HELD = 600.0
GROWTH = 10.0
MINUTE = 60.0
JITTER, MOST_JITTER = 0.1, 2.0
"""Of a wait that a server asked for, how much may come on top of it; at most so many seconds."""
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
    """`is_apart`: it waited for money or for a lead, not for its endpoint's sake."""

    need: PermitNeed
    since: float
    is_apart: bool = False


class _Limiter:
    """One endpoint's."""

    def __init__(self, bounds: EndpointBounds, chance: Callable[[], float]) -> None:
        self.bounds = bounds
        self._chance = chance
        self.held_until = 0.0
        self.is_probing = False
        """After a refusal, until one request that went out since was answered."""
        self.probe: int | None = None
        """That one."""
        self.refused_at = 0.0
        self.most: float = bounds.requests or float("inf")
        self.waiting: deque[_Waiting] = deque()
        """In the order in which they asked."""
        self.busy = 0
        """Requests under way."""
        self.sent: deque[tuple[float, int]] = deque()
        self.sent_tokens = 0
        self.sent_first = float("inf")
        self.waited = 0.0

    def send(self, now: float, tokens: int) -> None:
        self.sent.append((now, tokens))
        self.sent_tokens += tokens
        self.sent_first = min(self.sent_first, now)
        self.busy += 1

    def refuse(self, now: float, wait: float, under_way: int) -> None:
        # somebody else was told the same, and would come back in that very moment
        jitter = self._chance() * min(MOST_JITTER, wait * JITTER)
        self.held_until = max(self.held_until, now + wait + jitter)
        self.is_probing, self.probe = True, None
        self.refused_at = self.held_until
        self.most = max(1, min(self.most, max(under_way, 1)) // 2)

    def allowed(self, now: float) -> float:
        """How many may be under way."""
        ceiling: float = self.bounds.requests or float("inf")
        grown = self.most + max(0.0, now - self.refused_at) // GROWTH
        return min(ceiling, grown)

    def opens_at(self, now: float, tokens: int) -> float | None:
        """When such a request may go: now, a later time, or None: when another one has ended."""
        if now < self.held_until:
            return self.held_until
        if self.is_probing:
            return None if self.probe is not None else now
        if self.busy >= self.allowed(now):
            return None
        while self.sent and self.sent[0][0] <= now - MINUTE:
            self.sent_tokens -= self.sent.popleft()[1]
        per_minute = self.bounds.requests_per_minute
        if per_minute is not None and len(self.sent) >= per_minute:
            return self.sent[-per_minute][0] + MINUTE
        most = self.bounds.tokens_per_minute
        if most is not None and self.sent and self.sent_tokens + tokens > most:
            return self.sent[0][0] + MINUTE
        return now


class PermitBook:
    """Of one exploration. `spent_cost` and `spent_tokens`: what earlier runs of it took.

    `chance`: from 0 to 1, for what must not happen at the same moment elsewhere.
    """

    def __init__(
        self,
        bounds: Mapping[str, EndpointBounds],
        *,
        cost: float | None,
        tokens: int | None,
        lead: float,
        spent_cost: float = 0.0,
        spent_tokens: int = 0,
        chance: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._cost, self._tokens, self._lead = cost, tokens, lead
        self.spent_cost, self.spent_tokens = spent_cost, spent_tokens
        self._bounds, self._chance = bounds, chance
        self._limiters: dict[str, _Limiter] = {}
        self._under_way: dict[int, PermitNeed] = {}
        self._going_cost, self._going_tokens = 0.0, 0
        """What those under way are expected to take."""
        self._last = 0.0
        self._leads: dict[str, float | None] = {}
        """Group → until when the others wait; None: its first answer has begun."""
        self._leader: dict[int, str] = {}

    # ---- events --------------------------------------------------------------------------------

    def ask(self, need: PermitNeed, now: float) -> None:
        self._limiter(need.endpoint).waiting.append(_Waiting(need, now))

    def began(self, n: int) -> None:
        """The first bytes of its answer are there."""
        group = self._leader.pop(n, None)
        if group is not None:
            self._leads[group] = None

    def used(self, n: int, cost: float, tokens: int) -> None:
        """Its request was answered, or ended otherwise, and took that."""
        limiter = self._over(n)
        self.spent_cost += cost
        self.spent_tokens += tokens
        if limiter is not None and limiter.probe == n:
            limiter.is_probing, limiter.probe = False, None

    def refused(self, n: int, wait: float, now: float) -> None:
        """The server said to wait; the request is asked for anew."""
        limiter = self._over(n)
        if limiter is not None:
            limiter.refuse(now, wait, limiter.busy + 1)

    def gone(self, n: int) -> None:
        """Its runner has ended: nothing of it waits or is under way."""
        limiter = self._over(n)
        if limiter is not None and limiter.probe == n:
            limiter.probe = None
        for each in self._limiters.values():
            each.waiting = deque(waiting for waiting in each.waiting if waiting.need.n != n)

    def _over(self, n: int) -> _Limiter | None:
        """It is not under way any more; its endpoint's limiter, if it was."""
        need = self._under_way.pop(n, None)
        self.began(n)
        if need is None:
            return None
        limiter = self._limiter(need.endpoint)
        limiter.busy -= 1
        self._going_tokens -= need.tokens
        # sums of floats drift: nothing under way is nothing expected
        self._going_cost = self._going_cost - need.cost if self._under_way else 0.0
        return limiter

    # ---- decisions -----------------------------------------------------------------------------

    def decide(self, now: float) -> tuple[list[PermitDecision], float | None]:
        """Who may go or never will, and when to look again at the latest (None: at an event).

        Of each endpoint in the order of asking: where the first has to wait for the endpoint's
        sake, so have all behind it.
        """
        self._last = now
        decisions: list[PermitDecision] = []
        wakes: list[float] = []
        for limiter in self._limiters.values():
            later: deque[_Waiting] = deque()
            while limiter.waiting:
                each = limiter.waiting[0]
                decision, wake, is_closed = self._judge(each, limiter, now)
                if wake is not None:
                    wakes.append(wake)
                if is_closed:
                    break
                limiter.waiting.popleft()
                if decision is None:
                    later.append(each)
                else:
                    decisions.append(decision)
            later.extend(limiter.waiting)
            limiter.waiting = later
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

    def _judge(
        self, each: _Waiting, limiter: _Limiter, now: float
    ) -> tuple[PermitDecision | None, float | None, bool]:
        """The decision, when to look again, and whether the endpoint takes nothing now."""
        need = each.need
        if not self._fits(need):
            each.is_apart = True
            if self._under_way:
                return None, None, False
            return No(need.n, self._words(need)), None, False
        if now - each.since >= MOST_HELD:
            words = f"waited {MOST_HELD:.0f} s for {need.endpoint}"
            return No(need.n, words, False), None, False
        until = self._led_until(need, now)
        if until > now:
            each.is_apart = True
            return None, until, False
        opens = limiter.opens_at(now, need.tokens)
        if opens is None or opens > now:
            grows = limiter.refused_at + GROWTH if limiter.refused_at > now - GROWTH else None
            return None, grows if opens is None else opens, True
        limiter.waited += 0.0 if each.is_apart else now - each.since
        limiter.send(now, need.tokens)
        self._under_way[need.n] = need
        self._going_cost += need.cost
        self._going_tokens += need.tokens
        if limiter.is_probing:
            limiter.probe = need.n
        self._lead_with(need, now)
        return Go(need.n), None, False

    def _fits(self, need: PermitNeed) -> bool:
        if self._cost is not None and self.spent_cost + self._going_cost + need.cost > self._cost:
            return False
        going = self._going_tokens + need.tokens
        return self._tokens is None or self.spent_tokens + going <= self._tokens

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

    def _limiter(self, endpoint: str) -> _Limiter:
        limiter = self._limiters.get(endpoint)
        if limiter is None:
            limiter = _Limiter(self._bounds.get(endpoint, EndpointBounds()), self._chance)
            self._limiters[endpoint] = limiter
        return limiter


def _shared(need: PermitNeed) -> str | None:
    """What it shares its beginning with, where that is long enough to be waited for."""
    return need.group if need.tokens >= SHARED_TOKENS else None
