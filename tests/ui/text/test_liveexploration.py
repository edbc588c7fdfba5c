"""The live table stands within the screen, and nothing of it is left when the rows stand below."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from agentsh.explore.log.facts import BaseState, BranchFact, ExploreLimits, PlanFact, TaskFact
from agentsh.explore.log.folder import ExploreFolders
from agentsh.explore.log.state import fold_facts
from agentsh.explore.plan import ExploreTask, PlannedBranch
from agentsh.explore.running.news import BranchNews, LimitNews, StepNews
from agentsh.messages import Usage
from agentsh.ui.text.liveexploration import live_front


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("lines", [8, 14, 40])
def test_the_table_is_no_taller_than_the_screen_and_counts_what_it_leaves_out(
    lines: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINES", str(lines))
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setenv("TERM", "xterm")
    plan = PlanFact("/p", (BaseState("/p", "/p", "c", 1, 2),), ExploreLimits())
    rows = [BranchFact(PlannedBranch(n, 0, "m", n)) for n in range(1, 61)]
    folded = fold_facts([plan, TaskFact(0, ExploreTask("1", "p")), *rows])
    assert folded is not None
    out, err = io.StringIO(), Screen()
    with live_front(out, err) as front:
        front.begin(ExploreFolders("0a1b2c3d", Path("/s"), Path("/d")), "s", folded.now())
        row = replace(folded.rows[57], status="running", error="\x1b[31m[bold]said[/bold]")
        front.hear(BranchNews(row))
        front.hear(StepNews(58, Usage()))
        front.hear(LimitNews("the cost limit"))
        drawn = err.getvalue()
        front.end({}, folded.now())

    frames = re.split(r"\r\x1b\[2K|\x1b\[\d+A|\x1b\[1A", drawn)
    assert max(frame.count("\n") for frame in frames) < lines
    assert "0a1b2c3d.58  running" in drawn
    assert "60 in all" in drawn
    assert "limit: the cost limit" in drawn
    assert "\x1b[31m" not in drawn
    assert "[bold]said[/bold]" in drawn
    assert out.getvalue().count("0a1b2c3d.") == 60
