"""How far one coordinator carries an exploration: the real book of permits, in simulated time.

10,000 tasks on 1,000 slots. Each task is steps (a permit, an answer, tools) and then a check; its
numbers are its own and the same in every row, so that rows differ by what they change. The
coordinator is one server: each message (a need, a usage, a step, lines of a log) takes it its time,
and what comes meanwhile waits. Deterministic; what the book itself takes is measured beside.
"""

from __future__ import annotations

import heapq
import itertools
import random
import sys
import time
from collections.abc import Iterator

from msgspec import Struct

from agentsh.explore.running.permits import EndpointBounds, Go, PermitBook, PermitNeed

MESSAGES = 4
"""Of one step: its need, that it went out, its usage, what was said."""


class World(Struct, frozen=True):
    """Seconds and counts. `message`: what one message costs the coordinator."""

    name: str
    slots: int = 1_000
    tasks: int = 10_000
    message: float = 0.0004
    bounds: EndpointBounds = EndpointBounds()
    steps: float = 30.0
    answer: float = 9.0
    tools: float = 3.0
    check: float = 40.0
    tokens: int = 2_000
    """Of one request, as the endpoint counts them (most of it is cached)."""


class Outcome(Struct):
    """What came of a world. `delays`: seconds from each need to its permit."""

    whole: float = 0.0
    last: float = 0.0
    """Seconds of the last twentieth of the tasks."""
    at_work: float = 0.0
    requests: int = 0
    busy: float = 0.0
    delays: list[float] = []
    book: float = 0.0
    """Real seconds that the book of permits took."""


class _Task(Struct):
    chance: random.Random
    steps_left: int
    asked: float = 0.0


def simulate(world: World) -> Outcome:
    """To the end of all tasks."""
    return _Run(world).run()


class _Run:
    def __init__(self, world: World) -> None:
        self.world = world
        self.book = PermitBook({"e": world.bounds}, cost=None, tokens=None, lead=0.0)
        self.events: list[tuple[float, int, str, int]] = []
        self.order = itertools.count()
        self.live: dict[int, _Task] = {}
        self.waiting = iter(range(world.tasks))
        self.free = 0.0
        self.ended: list[float] = []
        self.out = Outcome()
        self.wakes: set[float] = set()

    def run(self) -> Outcome:
        for n in itertools.islice(self.waiting, self.world.slots):
            self._begin(n, 0.0)
        while self.events:
            now, _, what, n = heapq.heappop(self.events)
            getattr(self, f"_{what}")(now, n)
        out = self.out
        out.whole = max(self.ended)
        self.ended.sort()
        out.last = out.whole - self.ended[int(len(self.ended) * 0.95) - 1]
        out.at_work /= out.whole * self.world.slots
        out.busy /= out.whole
        return out

    def _later(self, at: float, what: str, n: int) -> None:
        heapq.heappush(self.events, (at, next(self.order), what, n))

    def _served(self, now: float, messages: int = 1) -> float:
        """When the coordinator is through with it; it has others before."""
        cost = messages * self.world.message
        self.free = max(self.free, now) + cost
        self.out.busy += cost
        return self.free

    def _begin(self, n: int, now: float) -> None:
        chance = random.Random(n)
        steps = max(1, round(chance.lognormvariate(0, 0.6) * self.world.steps * 0.835))
        self.live[n] = _Task(chance, steps)
        self._later(self._served(now), "needs", n)

    def _needs(self, now: float, n: int) -> None:
        self.live[n].asked = now
        self._later(self._served(now), "asked", n)

    def _asked(self, now: float, n: int) -> None:
        began = time.perf_counter()
        self.book.ask(PermitNeed(n, "e", self.world.tokens, 0.0), now)
        self.out.book += time.perf_counter() - began
        self._decide(now)

    def _looks(self, now: float, _n: int) -> None:
        self.wakes.discard(now)
        self._decide(now)

    def _decide(self, now: float) -> None:
        began = time.perf_counter()
        decisions, wake = self.book.decide(now)
        self.out.book += time.perf_counter() - began
        for decision in decisions:
            if isinstance(decision, Go):
                self._sent(now, decision.n)
            else:  # it has waited too long, and asks once more
                self._later(now, "needs", decision.n)
        if wake is not None and wake > now and wake not in self.wakes:
            self.wakes.add(wake)
            self._later(wake, "looks", -1)

    def _sent(self, now: float, n: int) -> None:
        task = self.live[n]
        self.out.requests += 1
        self.out.delays.append(now - task.asked)
        answer = task.chance.expovariate(1 / self.world.answer)
        tools = task.chance.expovariate(1 / self.world.tools)
        self.out.at_work += answer + tools
        self._later(now + answer, "answered", n)
        task.steps_left -= 1
        if task.steps_left:
            self._later(now + answer + tools, "needs", n)
        else:
            check = task.chance.expovariate(1 / self.world.check)
            self.out.at_work += check
            self._later(now + answer + tools + check, "ends", n)

    def _answered(self, now: float, n: int) -> None:
        self._later(self._served(now, MESSAGES - 1), "counted", n)

    def _counted(self, now: float, n: int) -> None:
        began = time.perf_counter()
        self.book.used(n, 0.0, self.world.tokens)
        self.out.book += time.perf_counter() - began
        self._decide(now)

    def _ends(self, now: float, n: int) -> None:
        del self.live[n]
        self.ended.append(now)
        following = next(self.waiting, None)
        if following is not None:
            self._begin(following, now)


def worlds() -> Iterator[World]:
    yield World("no bound", slots=250, tasks=2_500)
    yield World("no bound")
    yield World("no bound", slots=10_000)
    yield World("a coordinator ten times slower", message=0.004)
    yield World("1,000 requests a minute", bounds=EndpointBounds(requests_per_minute=1_000))
    yield World("4 M tokens a minute", bounds=EndpointBounds(tokens_per_minute=4_000_000))
    yield World("400 requests at once", bounds=EndpointBounds(requests=400))


def line_of(world: World, out: Outcome) -> str:
    delays = sorted(out.delays)
    half, most = (delays[int(len(delays) * share)] * 1e3 for share in (0.5, 0.99))
    return (
        f"| {world.name} | {world.slots:,} | {world.tasks:,} | {out.whole / 3600:.2f} h"
        f" | {out.last / 60:.0f} min | {out.at_work:.0%} | {out.requests / out.whole:.0f}"
        f" | {out.busy:.0%} | {half:,.1f} / {most:,.1f} | {out.book / out.requests * 1e3:.3f} |"
    )


def main() -> None:
    print("\n| what | at once | tasks | whole time | the last 5% | slots at work | requests/s")
    print("| coordinator busy | permit p50 / p99, ms | the book's part, ms |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for world in worlds():
        print(line_of(world, simulate(world)))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
