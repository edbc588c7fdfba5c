"""`agentsh resume` of a branch's session: a person goes on with it, in its workspace.

The chat is this program once more, in the branch's view; the workspace is made again from its state
if it is gone. Afterwards what was said and what the files are is on record, so that the table,
`diff` and `pick` have it. Read next: branching.py, tidying.py.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from agentsh.cli.assembly.exploring.starting import machine_here, must_be_there
from agentsh.cli.assembly.exploring.tidying import capture_left
from agentsh.cli.lookup.explorations import LookedAt
from agentsh.cli.notices import warn
from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.cli.setup.configuration import IN_BRANCH, configure
from agentsh.cli.setup.paths import Paths
from agentsh.errors import ExplorationError, SessionNotFoundError, UsageError
from agentsh.explore.log.facts import TurnFact
from agentsh.explore.log.folder import (
    ExploreFolders,
    RunLock,
    VisitLock,
    open_exploration,
    read_exploration,
    runner_of,
)
from agentsh.explore.log.state import GOES_ON, BranchRow
from agentsh.explore.picking import FilePick, bring_files
from agentsh.explore.running.jobs import BranchJobs
from agentsh.explore.running.spending import spent_in
from agentsh.files import is_folder
from agentsh.messages import AssistantMessage, Text
from agentsh.programs import OWN_PROGRAM
from agentsh.session.file.session import Session, open_session
from agentsh.session.format.entries import MessageBody
from agentsh.session.store.folders import EXPLORE
from agentsh.tools.undo.shadow import Shadow
from agentsh.tools.undo.states import rows_between

_PASSED_ON = (signal.SIGTERM, signal.SIGHUP)


def visit_branch(places: Paths, file: Path, words: Sequence[str]) -> int:
    """Run this program with `words` in the workspace of that session's branch; its exit code.

    Raises ExplorationError: it runs, or is of no exploration of ours; UsageError: there is no view.
    """
    looked, row = _branch_of(places, file)
    plan = looked.now.plan
    folder = Path(looked.now.base_of(row).folder)
    must_be_there(folder)
    configuration = configure(TurnOptions(), os.environ, folder)
    machine = machine_here(configuration, folder, plan.workspaces)
    jobs = BranchJobs(looked.folders, machine, {})
    running = RunLock(looked.folders)
    try:
        visit = VisitLock(looked.folders, row.n)
        _make_ready(jobs, looked, row, machine.git.environ)
        view = jobs.view(looked.now, row, row.n)
    finally:
        running.release()
    if view is None:
        raise UsageError("a branch's workspace needs bubblewrap (bwrap) that works here")
    try:
        warn([f"in the workspace of branch {looked.folders.name}.{row.n}"])
        code = _run(view([*OWN_PROGRAM, *words], folder), file)
        _record(jobs, looked, row, file)
    finally:
        visit.release()
    return code


def _branch_of(places: Paths, file: Path) -> tuple[LookedAt, BranchRow]:
    name = file.parent.name
    folders = ExploreFolders(name, file.parent, places.data / EXPLORE / name)
    read = read_exploration(folders)
    if read is None or not is_folder(folders.store):
        raise ExplorationError(f"what exploration {name} kept is not on this machine")
    folders = folders.working_in(read[1].plan.workspaces)
    looked = LookedAt(folders, read[0], read[1], runner_of(folders))
    for row in looked.now.rows:
        if row.started is not None and Path(row.started.path) == file:
            return looked, row
    raise SessionNotFoundError(
        f"{file.name} is an earlier try of a branch",
        hint=f"`agentsh explore show {name} --json` names the sessions",
    )


def _make_ready(
    jobs: BranchJobs, looked: LookedAt, row: BranchRow, environ: Mapping[str, str]
) -> None:
    """Its workspace, as it was left; made anew, what a setup had made is not in it."""
    if is_folder(jobs.workspace(row.n)):
        return
    jobs.prepare(looked.now, row, row.n)()
    if row.capture is not None:
        shadow = Shadow(looked.folders.store, jobs.workspace(row.n), environ)
        base = looked.now.base_of(row)
        rows = rows_between(shadow, base.commit, row.capture.commit)
        bring_files(FilePick(shadow, tuple(rows), (), ()))


def _run(argv: list[str], file: Path) -> int:
    """A child in the same terminal; what ends us ends it, and Ctrl-C is its own matter."""
    child = subprocess.Popen(argv, env={**os.environ, IN_BRANCH: str(file)})
    with _leaving_it_to(child):
        code = child.wait()
    return 128 - code if code < 0 else code


@contextmanager
def _leaving_it_to(child: subprocess.Popen[bytes]) -> Iterator[None]:
    def pass_on(number: int, _frame: FrameType | None) -> None:
        child.send_signal(number)

    def ignore(_number: int, _frame: FrameType | None) -> None:
        """The terminal has told the child as well."""

    handlers = {**dict.fromkeys(_PASSED_ON, pass_on), signal.SIGINT: ignore}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _record(jobs: BranchJobs, looked: LookedAt, row: BranchRow, file: Path) -> None:
    """What came of it, on record; where that is not possible, the workspace stays."""
    try:
        running = RunLock(looked.folders)
    except ExplorationError as e:
        warn([f"{jobs.workspace(row.n)} stays: {e}"])
        return
    try:
        log = open_exploration(looked.folders)
        try:
            with open_session(file, write=False) as session:
                spent, leaf = spent_in(session), session.leaf
                text = _last_answer(session)
            status = "completed" if row.turn is None else row.turn.status
            log.note(TurnFact(row.n, status, leaf, text, spent.usage, spent.requests))
            trouble = capture_left(log, jobs, looked, row)
            now = log.now
        finally:
            log.close()
        if trouble is not None:
            warn([f"{jobs.workspace(row.n)} stays: {trouble}"])
        elif row.status not in GOES_ON and not now.limits.is_kept:
            jobs.take_away(row.n)
        if not now.to_do():
            jobs.take_bases_away()
    finally:
        running.release()


def _last_answer(session: Session) -> str:
    for entry in reversed(session.live().entries):
        match entry.body:
            case MessageBody(AssistantMessage(content)):
                text = "".join(block.text for block in content if isinstance(block, Text)).strip()
                if text:
                    return text
            case _:
                pass
    return ""
