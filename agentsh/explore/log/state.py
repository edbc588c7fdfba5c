"""The state of an exploration, as a fold of its log. Pure.

Rows, sums and what is open come of the records and of nothing else, so whoever reads the log sees
what its coordinator sees. Whether that still lives is asked elsewhere (folder.py). Read next:
outcome.py, values.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias, assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from agentsh.explore.log.facts import (
    AnyExploreFact,
    BaseState,
    BranchEnd,
    BranchFact,
    CaptureFact,
    CheckFact,
    CleanFact,
    EndFact,
    ExploreLimits,
    LimitFact,
    PickFact,
    PlanFact,
    ResumeFact,
    StartFact,
    StopFact,
    TaskFact,
    TurnFact,
    WaitFact,
)
from agentsh.explore.plan import ExploreTask, PlannedBranch
from agentsh.messages import Usage

BranchStatus: TypeAlias = Literal["queued", "running"] | BranchEnd
_OfTheWhole: TypeAlias = WaitFact | LimitFact | StopFact | ResumeFact | PickFact | CleanFact
GOES_ON: frozenset[BranchStatus] = frozenset({"queued", "running", "aborted", "limit"})
"""What a resume takes up again by itself."""


class BranchRow(Struct, frozen=True):
    """One branch, as far as the log tells.

    `earlier`: sessions of tries whose workspace was gone. `is_cut`: no end of its last try is on
    record, so a resume goes on inside its turn.
    """

    planned: PlannedBranch
    task: ExploreTask
    status: BranchStatus = "queued"
    tries: int = 0
    started: StartFact | None = None
    turn: TurnFact | None = None
    capture: CaptureFact | None = None
    check: CheckFact | None = None
    error: str | None = None
    seconds: float = 0.0
    workspace: str | None = None
    earlier: tuple[StartFact, ...] = ()

    @property
    def n(self) -> int:
        return self.planned.n

    @property
    def usage(self) -> Usage:
        """Of its session, as its last turn left it."""
        return Usage() if self.turn is None else self.turn.usage


class Exploration(Struct, frozen=True):
    """All of an exploration at one moment."""

    plan: PlanFact
    rows: tuple[BranchRow, ...]
    limits: ExploreLimits
    options: Mapping[str, Any] = field(default_factory=dict)
    base_check: CheckFact | None = None
    stopped: StopFact | None = None
    limited: str | None = None
    waits: Mapping[str, float] = field(default_factory=dict)
    picks: tuple[PickFact, ...] = ()

    @property
    def picked(self) -> int | None:
        """The branch that was picked last."""
        return self.picks[-1].n if self.picks else None

    def row(self, n: int) -> BranchRow:
        """Branch `n`, counted from 1."""
        return self.rows[n - 1]

    def base_of(self, row: BranchRow) -> BaseState:
        """The frozen folder that a branch began from."""
        meant = (row.task.folder or self.plan.folder, row.task.base)
        return next(base for base in self.plan.bases if (base.folder, base.revision) == meant)

    def check_of(self, row: BranchRow) -> str | None:
        """The command that decides about a branch."""
        return row.task.check or self.plan.check

    def to_do(self) -> tuple[BranchRow, ...]:
        """What a coordinator has to run, in their order."""
        return tuple(row for row in self.rows if row.status in GOES_ON)


class ExplorationFold:
    """Takes one record after the other; work of each is constant, however many rows there are."""

    def __init__(self, plan: PlanFact) -> None:
        self.plan = plan
        self.limits = plan.limits
        self.rows: list[BranchRow] = []
        self._options = plan.options
        self._tasks: list[ExploreTask] = []
        self._base_check: CheckFact | None = None
        self._stopped: StopFact | None = None
        self.limited: str | None = None
        self._waits: dict[str, float] = {}
        self._picks: list[PickFact] = []

    def now(self) -> Exploration:
        return Exploration(
            plan=self.plan,
            rows=tuple(self.rows),
            limits=self.limits,
            options=self._options,
            base_check=self._base_check,
            stopped=self._stopped,
            limited=self.limited,
            waits=dict(self._waits),
            picks=tuple(self._picks),
        )

    def take(self, record: AnyExploreFact) -> None:
        """One more; a record of a row that was never planned is passed over."""
        match record:
            case PlanFact():
                pass  # there is one, and it came first
            case TaskFact(what=task):
                self._tasks.append(task)
            case BranchFact(what=planned):
                self.rows.append(BranchRow(planned, self._tasks[planned.task]))
            case StartFact() | TurnFact() | CaptureFact() | EndFact():
                self._take_row(record)
            case CheckFact(n=n):
                if n:
                    self._put(n, check=record)
                else:
                    self._base_check = record
            case _:
                self._take_whole(record)

    def _take_whole(self, record: _OfTheWhole) -> None:
        """What is true of the exploration, or of several rows."""
        match record:
            case WaitFact(endpoint, seconds, _):
                self._waits[endpoint] = self._waits.get(endpoint, 0.0) + seconds
            case LimitFact(what=what):
                self.limited = what
            case StopFact():
                self._stopped = record
            case ResumeFact():
                self._resume(record)
            case PickFact():
                self._picks.append(record)
            case CleanFact(branches=branches):
                for n in branches:
                    self._put(n, workspace=None)
            case _:
                assert_never(record)

    def _take_row(self, record: StartFact | TurnFact | CaptureFact | EndFact) -> None:
        match record:
            case StartFact(n=n, attempt=attempt):
                before = self._row(n)
                if before is None:
                    return
                earlier = before.earlier
                if before.started is not None and before.started.session != record.session:
                    earlier = (*earlier, before.started)
                fresh = {"turn": None, "capture": None, "check": None, "error": None}
                self._put(
                    n, status="running", tries=attempt, started=record, earlier=earlier, **fresh
                )
            case TurnFact(n=n):
                self._put(n, turn=record)
            case CaptureFact(n=n):
                before = self._row(n)
                is_same = before is not None and (
                    before.capture is None or before.capture.tree == record.tree
                )
                # what was checked were other files
                self._put(n, capture=record, **({} if is_same else {"check": None}))
            case EndFact(n=n, status=status, seconds=seconds, error=error, workspace=workspace):
                self._put(n, status=status, seconds=seconds, error=error, workspace=workspace)
            case _:
                assert_never(record)

    def _resume(self, record: ResumeFact) -> None:
        self.limits, self._options = record.limits, record.options
        self._stopped = self.limited = None
        if record.engine is not None:
            self.plan = replace(self.plan, engine=record.engine, cluster=record.cluster)
        for row in self.rows:
            if row.status in record.again:
                # what is taken up again by wish has a turn of its own before it
                self._put(row.n, status="queued", turn=None, capture=None, check=None, error=None)

    def _row(self, n: int) -> BranchRow | None:
        return self.rows[n - 1] if 0 < n <= len(self.rows) else None

    def _put(self, n: int, **changes: object) -> None:
        row = self._row(n)
        if row is not None:
            self.rows[n - 1] = replace(row, **changes)


def fold_facts(records: Iterable[AnyExploreFact]) -> ExplorationFold | None:
    """What the records come to; None: there is no plan among them."""
    folded: ExplorationFold | None = None
    for record in records:
        if folded is None:
            folded = ExplorationFold(record) if isinstance(record, PlanFact) else None
        else:
            folded.take(record)
    return folded
