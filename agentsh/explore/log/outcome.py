"""What an exploration came to: its exit code, its best branch, branches with the same files. Pure.

Read next: state.py, values.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from agentsh.explore.log.state import BranchRow, Exploration

_STOPPED_BY_LIMIT = frozenset({"limit", "blocked"})


def has_passed(row: BranchRow) -> bool:
    """Its turn completed, and its check ended with 0."""
    return row.status == "completed" and row.check is not None and row.check.exit == 0


def code_of_exploration(exploration: Exploration) -> int:
    """As `agentsh explore` ends: 0, 1, 6; 130 where it was interrupted.

    0: each task with a check has a branch that passed it, each other task's branches all completed.
    """
    if exploration.stopped is not None and exploration.stopped.how == "interrupted":
        return 130
    by_task = groupby(exploration.rows, key=lambda row: row.planned.task)
    if all(_is_done(exploration, tuple(rows)) for _, rows in by_task):
        return 0
    stopped = any(row.status in _STOPPED_BY_LIMIT for row in exploration.rows)
    return 6 if stopped or exploration.limited is not None else 1


def _is_done(exploration: Exploration, rows: tuple[BranchRow, ...]) -> bool:
    if exploration.check_of(rows[0]) is not None:
        return any(map(has_passed, rows))
    return all(row.status == "completed" for row in rows)


def best_branch(exploration: Exploration) -> int | None:
    """Of the branches that passed: no protected file changed, fewest lines, least cost."""
    good = [row for row in exploration.rows if has_passed(row)]
    return min(good, key=_merit).n if good else None


def _merit(row: BranchRow) -> tuple[int, int, float, int]:
    capture = row.capture
    if capture is None:
        return (0, 0, row.usage.cost.total, row.n)
    lines = capture.added + capture.removed
    return (len(capture.protected), lines, row.usage.cost.total, row.n)


def same_files(rows: Iterable[BranchRow]) -> dict[int, int]:
    """Branch → an earlier branch of the same task that ended with the same files."""
    first: dict[tuple[int, str], int] = {}
    same: dict[int, int] = {}
    for row in rows:
        if row.capture is None:
            continue
        key = (row.planned.task, row.capture.tree)
        if key in first:
            same[row.n] = first[key]
        else:
            first[key] = row.n
    return same
