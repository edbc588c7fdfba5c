"""What every worker does, whichever machines its runners are on: a class that its test inherits.

A job here is a check of the base: real runners in real workspaces, and no endpoint is asked. The
test of a worker says by the fixture `worker` how it is made (of `stage`).
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct
from msgspec.structs import replace

from agentsh.explore.log.facts import (
    AnyExploreFact,
    BaseState,
    BranchFact,
    ExploreLimits,
    PlanFact,
    TaskFact,
)
from agentsh.explore.log.folder import ExploreFolders
from agentsh.explore.log.state import Exploration, fold_facts
from agentsh.explore.plan import ExploreTask, PlannedBranch
from agentsh.explore.running.jobs import BranchJobs, Machine
from agentsh.explore.running.lines import (
    BranchJob,
    CheckLine,
    FromRunner,
    HelloLine,
    OverLine,
    StopLine,
    encode_runner_line,
    read_from_runner,
)
from agentsh.explore.running.worker import RunnerHandle, RunnerWorker
from agentsh.explore.workspace.basing import FrozenBase, freeze_folder
from agentsh.explore.workspace.gitcalls import find_git
from agentsh.explore.workspace.view import find_view

VIEW = find_view(os.environ, Path("/"))
needs_view = pytest.mark.skipif(VIEW is None, reason="no bubblewrap that works")


class Stage(Struct, frozen=True):
    """A frozen project of one commit, and what a coordinator would know of it."""

    project: Path
    data: Path
    sessions: Path
    folders: ExploreFolders
    machine: Machine
    base: FrozenBase
    exploration: Exploration

    @property
    def jobs(self) -> BranchJobs:
        return BranchJobs(self.folders, self.machine, {0: self.base})


def make_stage(tmp_path: Path, home: Path) -> Stage:
    project, data = tmp_path / "project", home / "agentsh"
    project.mkdir()
    (project / "a.txt").write_text("one\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "base"]):
        who = ["-c", "user.name=a", "-c", "user.email=a@localhost"]
        subprocess.run(["git", *who, *words], cwd=project, check=True)
    sessions = data / "sessions"
    folders = ExploreFolders("0badcafe", sessions / "p/explore/0badcafe", data / "explore/0badcafe")
    folders.sessions.mkdir(parents=True)
    folders.data.mkdir(parents=True)
    git = find_git(os.environ, project)
    base, listing, commit = freeze_folder(
        git, project, folders.base(0), folders.store, brought=(), lent=(), own=(), branches=1
    )
    state = BaseState(
        folder=str(project), root=str(listing.root), commit=commit, files=1, bytes=4,
        is_repository=True,
    )  # fmt: skip
    plan = PlanFact(str(project), (state,), ExploreLimits(), check="true")
    records: list[AnyExploreFact] = [
        plan,
        TaskFact(0, ExploreTask("1", "hi")),
        *(BranchFact(PlannedBranch(n, 0, None, n)) for n in (1, 2, 3)),
    ]
    folded = fold_facts(records)
    assert folded is not None
    machine = Machine(git, VIEW, (data,))
    return Stage(project, data, sessions, folders, machine, base, folded.now())


class Heard:
    """The lines of one runner, as they come."""

    def __init__(self) -> None:
        self.lines: list[FromRunner] = []
        self.ends = 0
        self._changed = threading.Condition()

    def __call__(self, data: bytes | None) -> None:
        with self._changed:
            if data is None:
                self.ends += 1
            else:
                self.lines.append(read_from_runner(data))
            self._changed.notify_all()

    def end(self, seconds: float = 30.0) -> list[FromRunner]:
        """All of them, once it has ended."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.ends, seconds), self.lines
        return self.lines

    def of(self, kind: type[FromRunner], seconds: float = 30.0) -> FromRunner:
        with self._changed:
            there = self._changed.wait_for(
                lambda: any(isinstance(line, kind) for line in self.lines), seconds
            )
            assert there, self.lines
        return next(line for line in self.lines if isinstance(line, kind))


@needs_view
class WorkerContract:
    """Inherited by the test of each worker."""

    @pytest.fixture
    def stage(self, tmp_path: Path, clean_environment: Path) -> Stage:
        return make_stage(tmp_path, clean_environment)

    @pytest.fixture
    def worker(self, stage: Stage) -> Iterator[RunnerWorker]:
        raise NotImplementedError

    def begin(
        self, worker: RunnerWorker, stage: Stage, check: str, n: int = 1
    ) -> tuple[RunnerHandle, Heard]:
        now, jobs, heard = stage.exploration, stage.jobs, Heard()
        row = now.rows[n - 1]
        job: BranchJob = replace(jobs.job(now, row), kind="check", check=check)
        view, prepare = jobs.view(now, row, n), jobs.prepare(now, row, n)
        return worker.start(job, view, prepare, heard), heard

    def test_lines_come_in_their_order_and_then_the_end_once(
        self, worker: RunnerWorker, stage: Stage
    ) -> None:
        _, heard = self.begin(worker, stage, "cat a.txt; exit 3")

        lines = heard.end()
        time.sleep(0.2)

        assert [type(line) for line in lines] == [HelloLine, CheckLine, OverLine]
        checked = lines[1]
        assert isinstance(checked, CheckLine)
        assert (checked.what.exit, checked.what.output) == (3, "one\n")
        assert heard.ends == 1

    def test_a_branch_works_at_the_folders_own_path_and_the_folder_keeps_its_bytes(
        self, worker: RunnerWorker, stage: Stage
    ) -> None:
        said = 'pwd; git status --short; git log --format=%s; echo x > "$PWD/a.txt"'

        _, heard = self.begin(worker, stage, said)

        checked = heard.of(CheckLine)
        assert isinstance(checked, CheckLine)
        assert checked.what.output == f"{stage.project}\nbase\n"
        heard.end()
        assert (stage.project / "a.txt").read_text() == "one\n"

    def test_several_at_once_are_not_mixed_up(self, worker: RunnerWorker, stage: Stage) -> None:
        begun = [self.begin(worker, stage, f"echo {n}", n) for n in (1, 2, 3)]

        outputs = []
        for _, heard in begun:
            checked = heard.of(CheckLine)
            assert isinstance(checked, CheckLine)
            outputs.append((checked.what.n, checked.what.output))

        assert outputs == [(1, "1\n"), (2, "2\n"), (3, "3\n")]
        for _, heard in begun:
            heard.end()

    def test_one_that_is_told_to_stop_ends_well(self, worker: RunnerWorker, stage: Stage) -> None:
        handle, heard = self.begin(worker, stage, "sleep 60")
        heard.of(HelloLine)

        worker.say(handle, encode_runner_line(StopLine("aborted")))

        assert isinstance(heard.end()[-1], OverLine)

    def test_one_that_is_killed_is_heard_to_end_without_a_word(
        self, worker: RunnerWorker, stage: Stage
    ) -> None:
        handle, heard = self.begin(worker, stage, "sleep 60")
        heard.of(HelloLine)

        worker.end(handle, "kill")

        assert [type(line) for line in heard.end()] == [HelloLine]

    def test_nothing_is_raised_of_one_that_has_ended(
        self, worker: RunnerWorker, stage: Stage
    ) -> None:
        handle, heard = self.begin(worker, stage, "true")
        heard.end()

        worker.say(handle, encode_runner_line(StopLine("aborted")))
        worker.end(handle, "kill")

    def test_what_cannot_be_prepared_is_a_failed_branch(
        self, worker: RunnerWorker, stage: Stage
    ) -> None:
        (stage.base.base_folder / "paths").unlink()

        _, heard = self.begin(worker, stage, "true")

        last = heard.end()[-1]
        assert isinstance(last, OverLine)
        assert last.status == "failed"
