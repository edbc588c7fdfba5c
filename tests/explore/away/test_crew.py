"""Branches on machines elsewhere: the worker's contract, and what is done when one is lost."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from agentsh.explore.away.arrivals import Arrivals
from agentsh.explore.away.crew import MachineCrew
from agentsh.explore.away.machine import MachineHello
from agentsh.explore.running.lines import FullLine, HelloLine, OverLine, ToldLine
from agentsh.explore.running.worker import RunnerWorker
from tests.explore.away.links import HereCluster, crew_of
from tests.explore.running.worker_contract import (
    Heard,
    Stage,
    WorkerContract,
    make_stage,
    needs_view,
)

pytestmark = pytest.mark.slow  # real processes


class TestMachineCrew(WorkerContract):
    @pytest.fixture
    def worker(self, stage: Stage) -> Iterator[RunnerWorker]:
        crew = crew_of(stage, HereCluster(stage, 2), 2)
        yield crew
        crew.close()


@pytest.fixture
def stage(tmp_path: Path, clean_environment: Path) -> Stage:
    return make_stage(tmp_path, clean_environment)


@pytest.fixture
def cluster(stage: Stage) -> HereCluster:
    return HereCluster(stage, 1)


@pytest.fixture
def crew(stage: Stage, cluster: HereCluster) -> Iterator[MachineCrew]:
    crew = crew_of(stage, cluster, 1)
    yield crew
    crew.close()


def begin(crew: RunnerWorker, stage: Stage, check: str, n: int = 1) -> Heard:
    return WorkerContract().begin(crew, stage, check, n)[1]


@needs_view
def test_a_lost_machines_branches_end_once_nothing_of_them_can_run(
    crew: MachineCrew, cluster: HereCluster, stage: Stage
) -> None:
    heard = begin(crew, stage, "sleep 60")
    heard.of(HelloLine)
    assert crew.has_workspace(1)

    cluster.links[0].unplug()

    assert isinstance(heard.of(ToldLine), ToldLine)
    assert not heard.ends
    assert not crew.has_workspace(1)
    assert [type(line) for line in heard.end()] == [HelloLine, ToldLine]
    again = begin(crew, stage, "true")
    assert isinstance(again.end()[-1], OverLine)
    assert len(cluster.links) == 2


class FullDisk(Arrivals):
    """Takes the first that comes, and has no more room."""

    taken = 0

    def take(self, data: bytes) -> None:
        self.taken += 1
        if self.taken > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        super().take(data)


@needs_view
def test_a_disk_here_that_is_full_ends_more_than_one_machine(
    cluster: HereCluster, stage: Stage
) -> None:
    crew = crew_of(stage, cluster, 1, FullDisk)

    lines = begin(crew, stage, "true").end()

    crew.close()
    [full] = [line for line in lines if isinstance(line, FullLine)]
    assert "No space left on device" in full.why


@needs_view
def test_one_that_may_still_run_is_waited_for_as_long_as_its_lease(
    crew: MachineCrew, cluster: HereCluster, stage: Stage
) -> None:
    cluster.prepare = lambda link: setattr(link, "is_node_there", False)
    heard = begin(crew, stage, "sleep 60")
    heard.of(HelloLine)

    cluster.links[0].unplug()
    heard.of(ToldLine)
    began = time.monotonic()
    heard.end()

    assert time.monotonic() - began > 0.3


@needs_view
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": "0.0.0"}, "agentsh 0.0.0"),
        ({"trouble": "bubblewrap (bwrap) does not work on h"}, "bubblewrap"),
        ({"loopback": "elsewhere"}, "this machine's own"),
    ],
)
def test_a_machine_that_does_not_fit_is_refused_before_a_branch_is_begun_there(
    change: dict[str, str], words: str, crew: MachineCrew, cluster: HereCluster, stage: Stage
) -> None:
    def misfit(link: object) -> None:
        hello: MachineHello = link.machine.hello()  # type: ignore[attr-defined]
        link.hello_says = replace(hello, **change)  # type: ignore[attr-defined]

    cluster.prepare = misfit

    lines = begin(crew, stage, "true").end()

    last = lines[-1]
    assert isinstance(last, OverLine)
    assert last.status == "failed"
    assert words in (last.error or "")
    assert not any(isinstance(line, HelloLine) for line in lines)


@needs_view
def test_one_that_waits_for_a_machine_can_be_ended(cluster: HereCluster, stage: Stage) -> None:
    crew = crew_of(stage, cluster, 1, most=1)  # and one for the check of the base
    for n in (1, 2):
        begin(crew, stage, "sleep 60", n).of(HelloLine)
    handle, heard = WorkerContract().begin(crew, stage, "true", 3)

    time.sleep(0.2)
    crew.end(handle, "kill")

    assert heard.end() == []
    crew.close()


@needs_view
def test_a_workspace_that_is_taken_away_early_still_gives_its_slot_back(
    cluster: HereCluster, stage: Stage
) -> None:
    crew = crew_of(stage, cluster, 1, most=0)  # one machine, for the check of the base
    heard = begin(crew, stage, "sleep 1", 1)
    heard.of(HelloLine)
    crew.take_workspace_away(1)

    assert isinstance(begin(crew, stage, "true", 2).end()[-1], OverLine)
    heard.end()
    crew.close()


@needs_view
def test_a_place_goes_with_its_machine(
    crew: MachineCrew, cluster: HereCluster, stage: Stage, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    begin(crew, stage, "true").end()
    assert list(tmp_path.glob("agentsh-machine-*"))

    crew.close()

    assert not list(tmp_path.glob("agentsh-machine-*"))
