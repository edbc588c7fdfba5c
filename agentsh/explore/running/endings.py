"""A branch at work, and how it ends: on record, told, its workspace away if it was captured.

It stands alone since whatever ends a branch (its runner, a limit, another that passed first) must
leave the same behind. A workspace stays where somebody wanted that, where a resume goes on in it,
and where it could not be captured. Read next: jobs.py, coordinator.py.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from agentsh.explore.log.facts import BranchEnd, EndFact
from agentsh.explore.log.folder import ExplorationLog
from agentsh.explore.log.state import GOES_ON, BranchRow
from agentsh.explore.running.jobs import BranchJobs
from agentsh.explore.running.lines import BranchJob, OverLine
from agentsh.explore.running.news import BranchNews, ExploreNews, WordsNews
from agentsh.explore.running.worker import RunnerHandle


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
        is_wanted = self._log.rows.limits.is_kept or is_open or _is_uncaptured(row, status)
        stays = seconds is not None and is_wanted
        work = str(self._jobs.workspace(n)) if stays else None
        self._log.note(EndFact(n, status, round(spent, 3), error, work))
        try:
            if not stays:
                self._jobs.take_away(n)
            elif not is_open:
                self._jobs.let_stand(self._log.now, row)
        except OSError as e:  # the branch is captured; what it left is no reason to end the others
            self._tell(WordsNews(f"branch {n}: its workspace could not be tidied: {e}", "warning"))
        self._tell(BranchNews(self._log.rows.rows[n - 1]))


def _is_uncaptured(row: BranchRow, status: BranchEnd) -> bool:
    return row.capture is None and row.turn is not None and status != "skipped"
