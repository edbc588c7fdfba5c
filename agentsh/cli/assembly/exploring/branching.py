"""A branch's agent in its own process, for explore/running/runner.py. Nobody is asked there.

What it may do is what the options of the exploration say; its files are recorded by the
exploration, so that undo's store of the folder is left alone. Read next: explore/running/runner.py,
wiring.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from msgspec import convert
from msgspec.structs import replace

from agentsh.agent.agent import Agent
from agentsh.agent.config import RunLimits
from agentsh.agent.workbench import Workbench
from agentsh.cli.assembly.restoring import restored
from agentsh.cli.assembly.safety import confine, own_folders
from agentsh.cli.assembly.tools import end_commands
from agentsh.cli.assembly.wiring import assemble, children_environ, providing
from agentsh.cli.lookup.choosing import Chosen, opened
from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.cli.setup.configuration import Configuration, configure
from agentsh.cli.setup.paths import find_places
from agentsh.explore.running.checking import CommandSurroundings
from agentsh.explore.running.gate import Gating
from agentsh.explore.running.lines import BranchJob
from agentsh.explore.running.runner import CoordinatorChannel, run_job
from agentsh.session.exchange.fork import fork_session
from agentsh.session.file.session import Session, open_session
from agentsh.session.format.entries import Custom, EntryId
from agentsh.session.format.factcodec import decode_fact
from agentsh.session.format.facts import Origin
from agentsh.session.store.store import Store
from agentsh.tools.approval.original import OriginalFolder


def serve_branch() -> int:
    """Run the job that comes on stdin, to its end. What is printed besides goes to stderr."""
    outgoing = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    incoming = os.fdopen(os.dup(0), "rb")  # `sys.stdin` is closed at the end, while it is read
    channel = CoordinatorChannel(incoming, outgoing, _leave)
    job = channel.job()
    if job is None:
        return 1
    os.environ.update(channel.keys)  # read from there only, and commands do not get them
    run_job(channel, job, BranchMaker())
    return 0


def _leave() -> None:
    """The last way out: what commands left running is ended with us."""
    from agentsh.tools.shell import leftovers

    leftovers.end_all(1.0)
    os._exit(1)


class BranchMaker:
    """Satisfies runner.Maker."""

    def around(self, job: BranchJob) -> CommandSurroundings:
        configuration = _configured(job)
        return CommandSurroundings(
            children_environ(configuration.environ, configuration.settings),
            configuration.places.outputs,
            confine(configuration, Path(job.cwd)),
            own_folders(configuration.places),
        )

    @contextmanager
    def agent(self, job: BranchJob, gating: Gating) -> Iterator[Agent]:
        configuration, options = _configured(job), _options(job)
        chosen = _chosen(job)
        try:
            back = restored(configuration, options, chosen.session, resumed=chosen.resumed)
            with providing(back.configuration, options) as provider:
                gated = gating(provider)
                wired = assemble(back, options, chosen, gated, limits=RunLimits(job.steps))
                _keep_apart(wired.agent.workbench, job)
                yield wired.agent
        finally:
            try:
                end_commands(chosen.session)
            finally:
                chosen.session.close()


def _options(job: BranchJob) -> TurnOptions:
    return convert(job.options, TurnOptions)


def _configured(job: BranchJob) -> Configuration:
    configuration = configure(_options(job), os.environ, Path(job.folder))
    settings = configuration.settings
    return replace(
        configuration,
        settings=replace(settings, undo=replace(settings.undo, enabled=False)),
        shown=(Path(job.branch) / "borrowed",),  # the objects of its git
    )


def _chosen(job: BranchJob) -> Chosen:
    """The branch's session: gone on with, forked from the trunk, or new."""
    places, cwd = find_places(os.environ, job.options.get("session_dir")), Path(job.cwd)
    if job.session is not None:
        return _in(cwd, opened(places, Path(job.session), cwd))
    store = Store(Path(job.sessions), flat=True)
    if job.trunk is None:
        return Chosen(store.create(job.folder, root=partial(_of_a_branch, job, 0)), cwd)
    with open_session(Path(job.trunk.path), write=False) as trunk:
        leaf = None if job.trunk.leaf is None else EntryId(job.trunk.leaf)
        root = partial(_of_a_branch, job, _depth(trunk))
        path = fork_session(trunk, leaf, store, cwd=job.folder, root=root)
    return _in(cwd, opened(places, path, cwd))


def _in(cwd: Path, chosen: Chosen) -> Chosen:
    """Its session names the person's folder, and it works in the copy."""
    return replace(chosen, cwd=cwd)


def _keep_apart(bench: Workbench, job: BranchJob) -> None:
    """Without a view the copy lies in a folder of agentsh's, and the original where it was."""
    if job.apart is None:
        return
    work = Path(job.root)
    bench.own = tuple(path for path in bench.own if not work.is_relative_to(path))
    bench.hidden = tuple(path for path in bench.hidden if not work.is_relative_to(path))
    bench.original = OriginalFolder(Path(job.apart), work, bench.home)


def _of_a_branch(job: BranchJob, depth: int, origin: Origin) -> Origin:
    """What the root of its session says. `depth`: its trunk's."""
    name = Path(job.sessions).name
    of = {"exploration": name, "n": job.n, "base": job.base_commit}
    return replace(origin, origin="explore", depth=depth + 1, explore=of)


def _depth(trunk: Session) -> int:
    """How many explorations deep it is; a file of a stranger's says nothing of it."""
    first = next(iter(trunk.entries()), None)
    fact = decode_fact(first.body) if first is not None and isinstance(first.body, Custom) else None
    return fact.depth if isinstance(fact, Origin) else 0
