"""A workspace is taken away beside the coordinator, which hears of it; its trouble is told."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import cast

from agentsh.explore.log.folder import ExplorationLog
from agentsh.explore.running.endings import BranchEndings
from agentsh.explore.running.jobs import BranchJobs
from agentsh.explore.running.news import ExploreNews, WordsNews


class SlowJobs:
    """Two workspaces that go when they may; the second not at all."""

    are_here = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.may_go = threading.Event()
        for n in ("1", "2"):
            (folder / n / "work").mkdir(parents=True)

    def workspace(self, n: int) -> Path:
        return self.folder / str(n) / "work"

    def take_away(self, n: int) -> None:
        assert self.may_go.wait(30)
        if n == 2:
            raise OSError("a busy mount")
        self.workspace(n).rmdir()


def test_nobody_waits_for_a_workspace_that_goes(tmp_path: Path) -> None:
    jobs, told, wakes = SlowJobs(tmp_path), list[ExploreNews](), threading.Semaphore(0)
    endings = BranchEndings(
        cast("ExplorationLog", None), cast("BranchJobs", jobs), told.append, wakes.release
    )

    for n in (1, 2, 3):
        endings.take_away(n)  # of the third there is nothing

    endings.settle()
    assert endings.leaving == 2
    jobs.may_go.set()
    for _ in range(2):
        assert wakes.acquire(timeout=30)
    endings.settle()
    assert endings.leaving == 0
    assert not jobs.workspace(1).exists()
    words = "branch 2: its workspace could not be tidied: a busy mount"
    assert told == [WordsNews(words, "warning")]
