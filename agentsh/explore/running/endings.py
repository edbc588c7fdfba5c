"""A branch at work, and how it ends: on record, told, its workspace away if it was captured.

It stands alone since whatever ends a branch (its runner, a limit, another that passed first) must
leave the same behind. A workspace stays where somebody wanted that, where a resume goes on in it,
and where it could not be captured. It is taken away in a thread: a large one takes seconds, and
permits do not wait for that. Read next: jobs.py, coordinator.py.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable

from msgspec import Struct

from agentsh.explore.log.facts import BranchEnd, EndFact
from agentsh.explore.log.folder import ExplorationLog
from agentsh.explore.log.state import GOES_ON, BranchRow
from agentsh.explore.running.jobs import BranchJobs
from agentsh.explore.running.lines import BranchJob, OverLine
from agentsh.explore.running.news import BranchNews, ExploreNews, WordsNews
from agentsh.explore.running.worker import RunnerHandle
from agentsh.files import is_folder


class LiveBranch(Struct):
    """One runner at work. `since`, `asked_to_stop`: monotonic seconds."""

    job: BranchJob
    handle: RunnerHandle | None = None
    since: float = 0.0
    over: OverLine | None = None
    asked_to_stop: float | None = None
    endpoint: str = ""
    is_left_open: bool = False
    """It could not be captured now: a resume does that."""


class BranchEndings:
    """Of one exploration."""

    def __init__(
        self,
        log: ExplorationLog,
        jobs: BranchJobs,
        tell: Callable[[ExploreNews], None],
        wake: Callable[[], None],
    ) -> None:
        """`wake`: called from a thread when a workspace is gone; then `settle` tells the rest."""
        self._log, self._jobs, self._tell, self._wake = log, jobs, tell, wake
        self._going: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._gone: queue.SimpleQueue[tuple[int, OSError | None]] = queue.SimpleQueue()
        self._sweeper: threading.Thread | None = None
        self.leaving = 0
        """Workspaces that are being taken away: until then they need their room."""

    def end(self, n: int, status: BranchEnd, error: str | None, seconds: float | None) -> None:
        """`seconds`: how long it ran this time; None: it never began."""
        row = self._log.rows.rows[n - 1]
        spent = row.seconds + (seconds or 0.0)
        is_open = status in GOES_ON
        is_wanted = self._log.rows.limits.is_kept or is_open or _is_uncaptured(row)
        has_one = seconds is not None or is_folder(self._jobs.workspace(n))
        stays = has_one and is_wanted
        work = str(self._jobs.workspace(n)) if stays and self._jobs.are_here else None
        self._log.note(EndFact(n, status, round(spent, 3), error, work))
        if not stays:
            self.take_away(n)
        elif not is_open:
            try:
                self._jobs.let_stand(self._log.now, row)
            except OSError as e:
                self._untidy(n, e)
        self._tell(BranchNews(self._log.rows.rows[n - 1]))

    def take_away(self, n: int) -> None:
        """What a branch leaves, if anything; its end is on record."""
        if self._jobs.are_here and not is_folder(self._jobs.workspace(n).parent):
            return
        if self._sweeper is None:
            self._sweeper = threading.Thread(target=self._sweep, daemon=True)
            self._sweeper.start()
        self.leaving += 1
        self._going.put(n)

    def _sweep(self) -> None:
        while True:
            n, trouble = self._going.get(), None
            try:
                self._jobs.take_away(n)
            except OSError as e:
                trouble = e
            self._gone.put((n, trouble))
            self._wake()

    def settle(self) -> None:
        """Hear of what is gone by now."""
        while not self._gone.empty():
            n, trouble = self._gone.get()
            self.leaving -= 1
            if trouble is not None:
                self._untidy(n, trouble)

    def _untidy(self, n: int, trouble: OSError) -> None:
        """The branch is captured; what it left is no reason to end the others."""
        text = f"branch {n}: its workspace could not be tidied: {trouble}"
        self._tell(WordsNews(text, "warning"))

    def end_unbegun(self, numbers: Iterable[int], status: BranchEnd, error: str) -> None:
        """Many at once that no runner was begun for this time: one record each, durable together.

        A workspace of an earlier try stays where it is.
        """
        ended = []
        for n in numbers:
            row, work = self._log.rows.rows[n - 1], self._jobs.workspace(n)
            stays = str(work) if row.started is not None and is_folder(work) else None
            ended.append(EndFact(n, status, row.seconds, error, stays))
        self._log.note(*ended)
        for fact in ended:
            self._tell(BranchNews(self._log.rows.rows[fact.n - 1]))


def _is_uncaptured(row: BranchRow) -> bool:
    """Something was begun in its workspace that is recorded nowhere."""
    return row.capture is None and row.started is not None and row.started.path != ""
