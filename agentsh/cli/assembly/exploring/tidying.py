"""What an exploration leaves: workspaces captured and taken away, all of it put into the trash.

Read next: explore/running/jobs.py, cli/commands/exploring.py.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from agentsh.cli.assembly.exploring.starting import machine_here
from agentsh.cli.lookup.explorations import Explorations, LookedAt
from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.cli.setup.configuration import configure
from agentsh.cli.setup.keys import without_keys
from agentsh.cli.setup.paths import make_folder
from agentsh.errors import ToolFailedError
from agentsh.explore.log.facts import CleanFact
from agentsh.explore.log.folder import (
    ExplorationLog,
    ExploreFolders,
    RunLock,
    open_exploration,
    visitor_of,
)
from agentsh.explore.log.state import BranchRow
from agentsh.explore.running.checking import CommandSurroundings, capture_result
from agentsh.explore.running.jobs import BASE, BranchJobs
from agentsh.explore.workspace.basing import HALF, WORK
from agentsh.explore.workspace.copying import remove_tree
from agentsh.files import is_folder


def to_clean(folders: ExploreFolders) -> list[Path]:
    """Folders of workspaces and bases, where there are any."""
    names = [path for path in folders.bases.parent.glob("*") if path.name.isdigit()]
    places = [path / each for path in names for each in (WORK, HALF)]
    return sorted(path for path in (*places, folders.bases) if is_folder(path))


def cleaned(looked: LookedAt) -> Iterator[str]:
    """Take them away; what could not be captured stays, and is named."""
    configuration = configure(TurnOptions(), os.environ, Path(looked.now.plan.folder))
    running = RunLock(looked.folders)
    try:
        log = open_exploration(looked.folders)
        try:
            machine = machine_here(
                configuration, Path(looked.now.plan.folder), looked.now.plan.workspaces
            )
            jobs = BranchJobs(looked.folders, machine, {})
            gone: list[int] = []
            jobs.take_away(BASE)  # of a check of the base
            for row in log.now.rows:
                work = jobs.workspace(row.n)
                if not is_folder(work):
                    jobs.take_away(row.n)  # a crash may have left one that was being made
                    continue
                if visitor_of(looked.folders, row.n) is not None:
                    trouble: str | None = "somebody is in it"
                else:
                    is_captured = row.capture is not None
                    trouble = None if is_captured else capture_left(log, jobs, looked, row)
                if trouble is None:
                    jobs.take_away(row.n)
                    gone.append(row.n)
                else:
                    yield f"{work} stays: {trouble}"
            if not any(is_folder(jobs.workspace(row.n)) for row in log.now.rows):
                jobs.take_bases_away()
            log.note(CleanFact(tuple(gone)))
        finally:
            log.close()
    finally:
        running.release()


def capture_left(
    log: ExplorationLog, jobs: BranchJobs, looked: LookedAt, row: BranchRow
) -> str | None:
    """Record a workspace that a crash left; why it could not be, in words."""
    job = replace(jobs.job(log.now, row), root=str(jobs.workspace(row.n)))
    around = CommandSurroundings(without_keys(os.environ), looked.folders.data)
    try:
        jobs.bring_base(log.now, row)
        log.note(capture_result(job, around))
    except (ToolFailedError, OSError) as e:
        return str(e)
    return None


def trash_exploration(explorations: Explorations, looked: LookedAt) -> Path:
    """Into the trash folder: log and sessions. The rest is gone."""
    trash = make_folder(explorations.paths.trash) / "explore"
    trash.mkdir(mode=0o700, exist_ok=True)
    target = trash / looked.folders.name
    shutil.move(looked.folders.sessions, target)
    for folder in looked.folders.passing:
        remove_tree(folder)
    return target
