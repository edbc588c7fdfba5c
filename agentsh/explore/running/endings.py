"""A branch at work, and how it ends: on record, told, its workspace away if it was captured.

It stands alone since whatever ends a branch (its runner, a limit, another that passed first) must
leave the same behind. A workspace stays where somebody wanted that, where a resume goes on in it,
and where it could not be captured. Read next: jobs.py, coordinator.py.
"""

from __future__ import annotations

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


class BranchEndings:
    """Of one exploration."""

    def __init__(
        self, log: ExplorationLog, jobs: BranchJobs, tell: Callable[[ExploreNews], None]
    ) -> None:
        self._log, self._jobs, self._tell = log, jobs, tell

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
        try:
            if not stays:
                self._jobs.take_away(n)
            elif not is_open:
                self._jobs.let_stand(self._log.now, row)
        except OSError as e:  # the branch is captured; what it left is no reason to end the others
            self._tell(WordsNews(f"branch {n}: its workspace could not be tidied: {e}", "warning"))
        self._tell(BranchNews(self._log.rows.rows[n - 1]))

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
