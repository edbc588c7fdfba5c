"""What is done in a workspace beside the turn: setup, capture, the command that decides.

Commands are run by bash with what children of the agent get (no keys), in a process namespace of
their own where there is one, and end at their time with all that they started. For the check the
protected files are as in the base. Read next: capture.py, runner.py.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from agentsh.abort import Abort
from agentsh.errors import ToolError
from agentsh.explore.log.facts import CaptureFact, CheckFact
from agentsh.explore.running.lines import BranchJob
from agentsh.explore.workspace.capture import ResultStore, is_beyond_link, paths_named
from agentsh.explore.workspace.copying import copy_one, remove_tree
from agentsh.explore.workspace.gitcalls import find_git
from agentsh.explore.workspace.view import OwnProcesses
from agentsh.files import is_there, write_private
from agentsh.tools.base import ToolContext
from agentsh.tools.ledger import FileLedger
from agentsh.tools.shell.bash import ShellResult, run_shell

MOST_OUTPUT = 50 * 1024
_MARKS = "setup"


class CommandSurroundings(Struct, frozen=True):
    """What commands get: the environment without keys, and where long outputs go."""

    environ: Mapping[str, str]
    outputs: Path
    sandbox: Callable[[list[str]], list[str]] | None = None
    own: tuple[Path, ...] = ()
    """agentsh's own folders: where they lie in the folder, they are no work of a branch."""


def run_setup(job: BranchJob, around: CommandSurroundings, abort: Abort) -> str | None:
    """Make a fresh workspace ready; what went wrong, in words. What it makes is no change.

    A workspace that is gone on with was set up by an earlier try.
    """
    marks = Path(job.branch) / _MARKS
    if job.setup is None or is_there(marks):
        return None
    done = _run(job.setup, job, around, job.check_timeout, abort)
    if done.code != 0:
        how = "did not end in time" if done.stopped else f"failed with {done.code}"
        return f"--setup {how}: {done.text[-2000:].strip()}"
    marked = _results(job, around).marks(Path(job.root), Path(job.store).parent)
    rows = [[path.decode("latin-1"), *mark] for path, mark in marked.items()]  # names are bytes
    write_private(marks, msgspec.json.encode(rows))
    return None


def capture_result(job: BranchJob, around: CommandSurroundings) -> CaptureFact:
    """Record what the branch did. Raises ToolFailedError, OSError."""
    results = _results(job, around)
    work, aside = Path(job.root), Path(job.store).parent  # whose room is the store's
    result = results.capture(work, aside, job.base_commit, _marks(job), f"branch-{job.n}")
    protected = paths_named((path for path, _ in result.changed), job.protect)
    return CaptureFact(
        job.n, result.commit, result.tree, result.changed, result.added, result.removed, protected
    )


def run_check(
    job: BranchJob, around: CommandSurroundings, abort: Abort, captured: CaptureFact | None = None
) -> CheckFact:
    """Run the command that decides, with the protected files as they were in the base."""
    assert job.check is not None  # whoever has none asks for none
    for path in () if captured is None else captured.protected:
        _as_in_base(job, os.fsencode(path))
    began = time.monotonic()
    done = _run(job.check, job, around, job.check_timeout, abort)
    seconds = round(time.monotonic() - began, 3)
    code = done.code if done.code is not None else 124 if done.stopped == "timeout" else 130
    return CheckFact(job.n, code, seconds, _output(done), done.stopped == "timeout")


def _output(done: ShellResult) -> str:
    data = done.text.encode("utf-8", "replace")
    return data[-MOST_OUTPUT:].decode("utf-8", "ignore")


def _run(
    command: str, job: BranchJob, around: CommandSurroundings, seconds: float, abort: Abort
) -> ShellResult:
    wrap = around.sandbox
    if wrap is None and job.own_processes is not None:
        wrap = OwnProcesses(job.own_processes)
    context = ToolContext(
        cwd=Path(job.cwd),
        home=Path.home(),
        abort=abort,
        call_id=f"explore-{job.n}",
        key=f"explore-{job.n}",
        environ=around.environ,
        ledger=FileLedger(),
        output_dir=around.outputs,
        session_id="",
        sandbox=wrap,
    )
    try:
        return run_shell(command, context, seconds)
    except ToolError as e:
        return ShellResult(str(e), (), 126, None, False, None)


def _results(job: BranchJob, around: CommandSurroundings) -> ResultStore:
    git = find_git(around.environ, Path(job.root), lists=False)
    apart = (path for path in around.own if path.is_relative_to(job.root))
    names = tuple(os.fsencode(path.relative_to(job.root)) + b"/" for path in apart)
    return ResultStore(git, Path(job.store), Path(job.base_index), names)


def _marks(job: BranchJob) -> dict[bytes, tuple[int, int, int]]:
    file = Path(job.branch) / _MARKS
    if not is_there(file):
        return {}
    rows = msgspec.json.decode(file.read_bytes(), type=list[tuple[str, int, int, int]])
    return {path.encode("latin-1"): (size, mode, time_) for path, size, mode, time_ in rows}


def _as_in_base(job: BranchJob, path: bytes) -> None:
    """What a branch put in its way goes: nothing is taken away or written through a link."""
    root = os.fsencode(job.root)
    source, target = os.fsencode(job.base_files) + b"/" + path, root + b"/" + path
    if not os.path.lexists(source):
        if not is_beyond_link(root, path):
            remove_tree(Path(os.fsdecode(target)))
        return
    folder = root
    for name in path.split(b"/")[:-1]:
        folder += b"/" + name
        if os.path.islink(folder) or not os.path.isdir(folder):  # noqa: PTH112, PTH114
            remove_tree(Path(os.fsdecode(folder)))
            os.mkdir(folder)  # noqa: PTH102 - names need not be text
    remove_tree(Path(os.fsdecode(target)))
    copy_one(source, target)
