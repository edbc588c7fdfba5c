"""Runs an exploration to its end: the only one that waits, and the only writer of its log.

Branches begin in their order, `parallel` at once; each has a runner, whose lines come in one queue.
A fact is durable before what follows from it. A runner that dies goes on in its own session and
workspace; one that ended was captured first. Read next: permits.py, jobs.py, runner.py.
"""

from __future__ import annotations

import queue
import random
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import assert_never

from agentsh import __version__
from agentsh.errors import BadLineError
from agentsh.explore.log.facts import (
    BranchEnd,
    CheckFact,
    LimitFact,
    StartFact,
    StopFact,
    WaitFact,
)
from agentsh.explore.log.folder import ExplorationLog
from agentsh.explore.log.outcome import code_of_exploration, has_passed
from agentsh.explore.log.state import GOES_ON, BranchRow, Exploration
from agentsh.explore.running.endings import BranchEndings, LiveBranch
from agentsh.explore.running.jobs import BASE, BranchJobs
from agentsh.explore.running.lines import (
    BeatLine,
    BeganLine,
    BranchJob,
    CaptureLine,
    CheckLine,
    DenialLine,
    FromRunner,
    FullLine,
    HelloLine,
    HowStopped,
    KeyLine,
    NeedLine,
    OverLine,
    PermitLine,
    RefusedLine,
    StepLine,
    StopLine,
    ToldLine,
    ToRunner,
    TurnLine,
    UsedLine,
    encode_runner_line,
    read_from_runner,
)
from agentsh.explore.running.news import (
    BranchNews,
    ExploreNews,
    LimitNews,
    StepNews,
    WaitNews,
    WordsNews,
)
from agentsh.explore.running.permits import EndpointBounds, Go, PermitBook, PermitNeed
from agentsh.explore.running.spending import spent_so_far
from agentsh.explore.running.worker import RunnerWorker

BEAT = 15.0
_PATIENCE = 12.0
"""Seconds that a runner gets to end well, then it is told, then ended."""


class Coordinator:
    """Of one exploration, in one process."""

    def __init__(
        self,
        log: ExplorationLog,
        jobs: BranchJobs,
        worker: RunnerWorker,
        tell: Callable[[ExploreNews], None],
        bounds: Mapping[str, EndpointBounds],
    ) -> None:
        self._log, self._jobs, self._worker, self._tell = log, jobs, worker, tell
        now = log.now
        self._limits = now.limits
        self._heard: queue.SimpleQueue[tuple[int, bytes | None]] = queue.SimpleQueue()
        self._endings = BranchEndings(log, jobs, tell, lambda: self._heard.put((-1, None)))
        spent = spent_so_far(now)
        self._permits = PermitBook(
            bounds,
            cost=now.limits.cost,
            tokens=now.limits.tokens,
            lead=now.limits.lead,
            spent_cost=spent.cost.total,
            spent_tokens=spent.total_tokens,
            chance=random.random,
        )
        self._waiting = deque(row.n for row in now.to_do())
        self._live: dict[int, LiveBranch] = {}
        self._deaths: dict[int, int] = {}
        self._is_interrupted = self._is_asked = False
        self._halted: KeyLine | FullLine | None = None
        """Nobody else begins."""
        self._wake: float | None = None
        self._beat = 0.0

    def interrupt(self) -> None:
        """Begin nothing more and end what runs, well. From a signal handler or another thread."""
        self._is_interrupted = True
        self._heard.put((-1, None))

    def heed(self) -> None:
        """Somebody left word outside that a branch is to end. From a signal handler."""
        self._is_asked = True
        self._heard.put((-1, None))

    def end_at_once(self) -> None:
        """The second wish: nobody waits for a good end."""
        for live in tuple(self._live.values()):
            if live.handle is not None:
                self._worker.end(live.handle, "kill")

    def run(self) -> int:
        """To its end; the exit code. Raises SessionError: the log takes no more."""
        try:
            self._check_base()
            while True:
                self._begin_more()
                if not self._live and not self._endings.leaving:
                    break
                self._hear_one()
                self._decide()
                self._look_at_clock()
        except BaseException:
            self.end_at_once()
            raise
        return self._close()

    # ---- beginning and ending ------------------------------------------------------------------

    def _check_base(self) -> None:
        now = self._log.now
        job = self._jobs.base_check(now) if now.rows else None
        if job is not None and self._waiting:
            self._start(job, now, now.rows[0], BASE)

    def _may_begin(self) -> bool:
        return not (self._is_interrupted or self._log.rows.limited or self._halted)

    def _begin_more(self) -> None:
        running = sum(n != BASE for n in self._live) + self._endings.leaving
        while self._waiting and running < self._limits.parallel and self._may_begin():
            n = self._waiting.popleft()
            row = self._row(n)
            if row.status in GOES_ON:
                now = self._log.now
                self._start(self._jobs.job(now, row), now, row, n)
                running += 1

    def _start(self, job: BranchJob, now: Exploration, row: BranchRow, n: int) -> None:
        live = LiveBranch(job, since=time.monotonic())
        self._live[n] = live
        live.handle = self._worker.start(
            job,
            self._jobs.view(now, row, n),
            self._jobs.prepare(now, row, n),
            lambda line: self._heard.put((n, line)),
        )

    def _stop(self, n: int, how: HowStopped) -> None:
        live = self._live.get(n)
        if live is not None and live.asked_to_stop is None:
            live.asked_to_stop = time.monotonic()
            self._say(n, StopLine(how))

    def _close(self) -> int:
        for words in self._permits.wait_words(min(self._limits.parallel, len(self._log.rows.rows))):
            self._tell(WordsNews(words))
        if self._log.rows.limited is not None:
            self._endings.end_unbegun(self._waiting, "limit", self._log.rows.limited)
            self._waiting.clear()
        if self._is_interrupted:
            self._log.note(StopFact("interrupted", 130))
            return 130
        if not self._waiting and not isinstance(self._halted, FullLine):
            self._jobs.take_bases_away()
        code = code_of_exploration(self._log.now)
        if self._halted is not None:
            self._log.note(StopFact("failed", code, self._halted.why))
        else:
            self._log.note(StopFact("limit" if self._log.rows.limited else "ended", code))
        return code

    # ---- what is heard -------------------------------------------------------------------------

    def _hear_one(self) -> None:
        """Wait for one line at most until the next look at the clock; then take what is there."""
        try:
            heard = self._heard.get(timeout=self._patience())
        except queue.Empty:
            return
        while True:
            n, data = heard
            if n in self._live:
                if data is None:
                    self._ended(n)
                else:
                    self._take(n, data)
            try:
                heard = self._heard.get_nowait()
            except queue.Empty:
                break
        self._endings.settle()
        if self._is_interrupted or isinstance(self._halted, FullLine):
            for n in tuple(self._live):
                self._stop(n, "aborted")
        if self._is_asked:
            self._is_asked = False
            for n in self._jobs.stops_asked():
                self._end_early(n, "aborted", "stopped before it began")

    def _take(self, n: int, data: bytes) -> None:
        try:
            line = read_from_runner(data)
        except BadLineError as e:
            self._tell(WordsNews(f"branch {n}: {e}", "warning"))
            self._kill(n)
            return
        self._take_line(n, self._live[n], line)

    def _take_line(self, n: int, live: LiveBranch, line: FromRunner) -> None:
        match line:
            case NeedLine() | BeganLine() | UsedLine() | RefusedLine():
                self._take_request(n, live, line)
            case HelloLine():
                self._hello(n, live, line)
            case KeyLine() | FullLine():
                self._halted = self._halted or line
                live.is_left_open = isinstance(line, FullLine)
            case StepLine(usage):
                self._tell(StepNews(n, usage))
            case ToldLine(text):
                self._tell(WordsNews(text))
            case TurnLine(what, hint):
                self._log.note(what)
                if hint and what.status != "completed":
                    self._tell(WordsNews(f"branch {n}: {hint}"))
            case CaptureLine(what=captured):
                self._log.note(captured)
            case CheckLine(what=checked):
                self._checked(checked)
            case OverLine():
                live.over = line  # its process has nothing more to do but to end
                self._ended(n)
            case _:
                assert_never(line)

    def _take_request(
        self, n: int, live: LiveBranch, line: NeedLine | BeganLine | UsedLine | RefusedLine
    ) -> None:
        match line:
            case NeedLine(endpoint, tokens, cost, group):
                live.endpoint = endpoint
                self._permits.ask(PermitNeed(n, endpoint, tokens, cost, group), time.monotonic())
            case BeganLine():
                self._permits.began(n)
            case UsedLine(usage):
                self._permits.used(n, usage.cost.total, usage.total_tokens)
            case RefusedLine(seconds, why):
                self._permits.refused(n, seconds, time.monotonic())
                self._log.note(WaitFact(live.endpoint, seconds, why))
                self._tell(WaitNews(live.endpoint, seconds, why))
            case _:
                assert_never(line)

    def _checked(self, checked: CheckFact) -> None:
        self._log.note(checked)
        if checked.n == BASE and checked.exit == 0:
            text = "the check passes before anything is done: it decides nothing"
            self._tell(WordsNews(text, "warning"))

    def _hello(self, n: int, live: LiveBranch, line: HelloLine) -> None:
        if line.version != __version__:
            self._tell(WordsNews(f"{self._worker.name}: agentsh {line.version} there", "warning"))
            self._kill(n)
            return
        if n == BASE or live.job.turn is not None:
            return
        started = StartFact(
            n,
            live.job.attempt,
            self._worker.name,
            line.pid,
            line.host,
            line.session,
            line.path,
        )
        self._log.note(started)
        self._tell(BranchNews(self._row(n)))

    def _ended(self, n: int) -> None:
        """Its runner is gone, or has said its last word."""
        live = self._live.pop(n)
        self._permits.gone(n)
        if live.is_left_open:
            return
        if n == BASE:
            self._endings.take_away(n)
        elif live.over is not None:
            self._finish(n, live, live.over)
        elif self._is_interrupted or live.asked_to_stop is not None:
            self._end_row(n, "aborted", "ended before it could end well", live)
        else:
            self._died(n, live)

    def _died(self, n: int, live: LiveBranch) -> None:
        """Without a word: it goes on where it was, so many times."""
        died = self._deaths[n] = self._deaths.get(n, 0) + 1
        if died <= self._limits.retries:
            self._tell(WordsNews(f"branch {n}: its process died; it goes on", "warning"))
            self._waiting.appendleft(n)
        else:
            self._end_row(n, "lost", f"its process died {died} times", live)

    def _finish(self, n: int, live: LiveBranch, over: OverLine) -> None:
        row = self._row(n)
        status: BranchEnd = over.status
        if status == "completed" and row.capture is None:
            status = "failed"
        self._end_row(n, status, over.error, live)
        if self._limits.is_first and has_passed(self._row(n)):
            self._end_others(row.planned.task, n)

    def _end_row(
        self, n: int, status: BranchEnd, error: str | None, live: LiveBranch | None = None
    ) -> None:
        seconds = None if live is None else time.monotonic() - live.since
        self._endings.end(n, status, error, seconds)

    def _end_others(self, task: int, n: int) -> None:
        """One passed, and one was asked for."""
        for row in tuple(self._log.rows.rows):
            if row.planned.task == task and row.n != n:
                self._end_early(row.n, "skipped", f"branch {n} passed first")

    def _end_early(self, n: int, status: BranchEnd, why: str) -> None:
        """At work, it ends well; not begun yet, it is `status`."""
        if n in self._live:
            self._stop(n, "aborted")
        elif n in self._waiting:
            self._waiting.remove(n)
            self._end_row(n, status, why)

    # ---- permits and the clock -----------------------------------------------------------------

    def _decide(self) -> None:
        decisions, self._wake = self._permits.decide(time.monotonic())
        for decision in decisions:
            if isinstance(decision, Go):
                self._say(decision.n, PermitLine())
                continue
            if decision.is_limit and self._log.rows.limited is None:
                self._log.note(LimitFact(decision.why))
                self._tell(LimitNews(decision.why))
            self._say(decision.n, DenialLine(decision.why, decision.is_limit))

    def _patience(self) -> float:
        now = time.monotonic()
        until = min(self._beat + BEAT, now + BEAT if self._wake is None else self._wake)
        if any(live.asked_to_stop is not None for live in self._live.values()):
            until = min(until, now + 1.0)
        return max(0.01, until - now)

    def _look_at_clock(self) -> None:
        now = time.monotonic()
        if now - self._beat >= BEAT:
            self._beat = now
            for n in self._live:
                self._say(n, BeatLine())
        for n, live in tuple(self._live.items()):
            most = 2 * self._limits.seconds + 2 * live.job.check_timeout + 600
            if live.asked_to_stop is None and now - live.since > most:
                self._stop(n, "limit")
            elif live.asked_to_stop is not None and now - live.asked_to_stop > _PATIENCE:
                self._kill(n)

    def _kill(self, n: int) -> None:
        handle = self._live[n].handle
        if handle is not None:
            self._worker.end(handle, "kill")

    def _say(self, n: int, line: ToRunner) -> None:
        live = self._live.get(n)
        if live is not None and live.handle is not None:
            self._worker.say(live.handle, encode_runner_line(line))

    def _row(self, n: int) -> BranchRow:
        return self._log.rows.rows[n - 1]
