"""One process runs an exploration; whoever only looks disturbs nobody."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from pathlib import Path

import pytest

from agentsh.errors import ExplorationError
from agentsh.explore.log.folder import ExploreFolders, RunLock, runner_of


@pytest.fixture
def folders(tmp_path: Path) -> ExploreFolders:
    return ExploreFolders("0" * 8, tmp_path / "sessions", tmp_path / "data")


def test_whoever_looks_at_that_moment_does_not_refuse_the_one_that_begins(
    folders: ExploreFolders,
) -> None:
    RunLock(folders).release()
    looking = os.open(folders.data / "lock", os.O_RDWR)
    fcntl.flock(looking, fcntl.LOCK_SH)

    def stop_looking() -> None:
        time.sleep(0.05)
        os.close(looking)

    threading.Thread(target=stop_looking).start()
    running = RunLock(folders)

    assert runner_of(folders) == os.getpid()
    running.release()
    assert runner_of(folders) is None


def test_the_second_that_wants_to_run_it_is_told_of_the_first(folders: ExploreFolders) -> None:
    running = RunLock(folders)

    with pytest.raises(ExplorationError, match=f"is run by process {os.getpid()}"):
        RunLock(folders)
    running.release()


def test_workspaces_stand_where_the_plan_says(folders: ExploreFolders) -> None:
    elsewhere = folders.working_in("/w")

    assert elsewhere.branch(3) == Path("/w/agentsh-explore") / folders.name / "3"
    assert elsewhere.base(0) == Path("/w/agentsh-explore") / folders.name / "base" / "0"
    assert elsewhere.passing == (Path("/w/agentsh-explore") / folders.name, folders.data)
    assert folders.working_in(None) == folders
