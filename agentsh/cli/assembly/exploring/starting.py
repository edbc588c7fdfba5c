"""An exploration put together: base frozen, plan on record, coordinator ready. And taken up again.

Everything that is wrong is said before anything is made; what was made is taken away where the
beginning fails. Read next: explore/running/coordinator.py, branching.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from time import time
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from agentsh.cli.assembly.exploring.engines import EngineWish, ExploreEngine, hands_of, open_engine
from agentsh.cli.assembly.safety import own_folders
from agentsh.cli.lookup.finding import store_of
from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.cli.setup.configuration import Configuration
from agentsh.cli.setup.keys import without_keys
from agentsh.errors import ExplorationError, ToolFailedError, UsageError
from agentsh.explore.log.facts import (
    BaseState,
    BranchFact,
    ExploreLimits,
    PlanFact,
    ResumeFact,
    TaskFact,
    TrunkPlace,
)
from agentsh.explore.log.folder import (
    WORKSPACES,
    ExplorationLog,
    ExploreFolders,
    RunLock,
    create_exploration,
    new_exploration,
    open_exploration,
    stops_asked,
)
from agentsh.explore.plan import ExploreTask, PlannedBranch
from agentsh.explore.running.coordinator import Coordinator
from agentsh.explore.running.jobs import BranchJobs, Machine
from agentsh.explore.running.news import ExploreNews
from agentsh.explore.running.permits import EndpointBounds
from agentsh.explore.running.worker import RunnerWorker
from agentsh.explore.workspace.basing import (
    FrozenBase,
    freeze_folder,
    must_be_project,
    must_be_repository,
)
from agentsh.explore.workspace.copying import remove_tree
from agentsh.explore.workspace.earlier import (
    EarlierState,
    as_recorded,
    at_revision,
    revision_named,
)
from agentsh.explore.workspace.gitcalls import GitCalls, find_git
from agentsh.explore.workspace.listing import repository_of
from agentsh.explore.workspace.view import find_view
from agentsh.files import is_folder, private_folder, real
from agentsh.providers.endpoint import read_endpoint
from agentsh.session.format.times import iso_time
from agentsh.settings import Settings

NO_VIEW = (
    "there is no bubblewrap (bwrap) that works here, so branches see their copies at paths of their"
    " own: what names the folder's own path is refused, and what is shared is copied"
)


class RecordedState(Struct, frozen=True):
    """A state of the folder's files, in the store of its states."""

    states: Path
    commit: str


class ExploreWish(Struct, frozen=True):
    """What is asked for, beside tasks and branches."""

    folder: Path
    limits: ExploreLimits
    options: TurnOptions
    trunk: TrunkPlace | None = None
    recorded: RecordedState | None = None
    """What the branches begin with instead of the files as they are."""
    name: str | None = None
    check: str | None = None
    check_timeout: float = 600.0
    protect: tuple[str, ...] = ()
    setup: str | None = None
    brought: tuple[Path, ...] = ()
    shared: tuple[Path, ...] = ()
    workspaces: Path | None = None


class ResumeWish(Struct, frozen=True):
    """What is given anew. `limits` by name; `engine`: which one, from how it was planned."""

    limits: Mapping[str, Any]
    options: Mapping[str, Any]
    again: tuple[str, ...]
    engine: Callable[[PlanFact], EngineWish]


class ReadyExploration(Struct, frozen=True):
    """An exploration that can run; whoever has it closes it."""

    folders: ExploreFolders
    log: ExplorationLog
    running: RunLock
    coordinator: Coordinator
    engine: ExploreEngine
    worker: RunnerWorker
    notices: tuple[str, ...] = ()

    @property
    def session(self) -> str:
        """The id of the log."""
        return self.log.id

    def close(self) -> None:
        with ExitStack() as closing:
            closing.callback(self.running.release)
            closing.callback(self.log.close)
            closing.callback(self.engine.close)
            closing.callback(self.worker.close)


def machine_here(
    configuration: Configuration, folder: Path, workspaces: str | None = None
) -> Machine:
    """This machine. `workspaces`: the plan's folder for them. Raises UsageError: no git."""
    environ = without_keys(configuration.environ)
    try:
        git = find_git(environ, folder)
    except ToolFailedError as e:
        raise UsageError(f"explore needs git: {e}", hint="install git") from e
    own = own_folders(configuration.places)
    if workspaces is not None:
        own = (*own, Path(workspaces) / WORKSPACES)
    return Machine(git, find_view(environ, folder), own)


def endpoint_bounds(settings: Settings) -> dict[str, EndpointBounds]:
    """What the settings say of each endpoint, by the name that its provider gives it."""
    bounds: dict[str, EndpointBounds] = {}
    for each in (*settings.endpoints.values(), settings.endpoint):
        if each.base_url is not None:
            bounds[read_endpoint(each.base_url).shown] = EndpointBounds(
                each.max_requests, each.requests_per_minute, each.tokens_per_minute
            )
    return bounds


def begin_exploration(
    engine: ExploreEngine,
    wish: ExploreWish,
    tasks: Sequence[ExploreTask],
    branches: Sequence[PlannedBranch],
    tell: Callable[[ExploreNews], None],
) -> ReadyExploration:
    """Freeze the bases, write the plan. Raises UsageError, OSError, SessionError."""
    configuration, places = engine.configuration, engine.configuration.places
    is_here = wish.workspaces is not None and engine.cluster is None
    workspaces = str(wish.workspaces) if is_here else None
    machine = machine_here(configuration, wish.folder, workspaces)
    has_view = machine.view is not None or engine.cluster is not None  # elsewhere it is seen there
    folders_of_tasks = dict.fromkeys((t.folder or str(wish.folder), t.base) for t in tasks)
    _must_work_here(machine, [Path(folder) for folder, _ in folders_of_tasks])
    store = store_of(places)
    folders = new_exploration(store, places.data, wish.folder).working_in(workspaces)
    lock: RunLock | None = None
    try:
        lock = RunLock(folders)
        if folders.work is not None:
            private_folder(folders.work)
        frozen, bases = _frozen(machine.git, folders, folders_of_tasks, wish, machine.own)
        log = create_exploration(folders, store, wish.folder, iso_time(time()))
        log.note(
            _plan(engine.wish, wish, bases, has_view=has_view),
            *(TaskFact(number, task) for number, task in enumerate(tasks)),
            *(BranchFact(branch) for branch in branches),
        )
    except BaseException as e:
        if lock is not None:
            lock.release()
        for made in (*folders.passing, folders.sessions):
            remove_tree(made)
        if isinstance(e, (OSError, ToolFailedError)):
            raise UsageError(f"the base cannot be made: {e}") from e
        raise
    jobs = BranchJobs(folders, machine, frozen)
    ready = _ready(engine, folders, log, lock, jobs, tell)
    return replace(ready, notices=(*ready.notices, *_lacking(bases, has_view=has_view)))


def _lacking(bases: Sequence[BaseState], *, has_view: bool) -> Iterator[str]:
    """What branches do without, in words."""
    yield from (f"left out of the base: {words}" for base in bases for words in base.left_out)
    if not has_view:
        yield NO_VIEW


def _must_work_here(machine: Machine, folders: Sequence[Path]) -> None:
    """Raises UsageError: one of the folders is no project."""
    home = real(Path.home())
    for folder in folders:
        must_be_project(folder, home, machine.own)
        must_be_repository(machine.git, folder, home, machine.own)


def _plan(
    engine: EngineWish, wish: ExploreWish, bases: tuple[BaseState, ...], *, has_view: bool
) -> PlanFact:
    return PlanFact(
        folder=str(wish.folder),
        bases=bases,
        limits=wish.limits,
        trunk=wish.trunk,
        name=wish.name,
        engine=engine.name,
        cluster=engine.cluster,
        check=wish.check,
        check_timeout=wish.check_timeout,
        protect=wish.protect,
        setup=wish.setup,
        brought=tuple(str(path) for path in wish.brought),
        shared=tuple(str(path.relative_to(wish.folder)) for path in wish.shared),
        workspaces=None if wish.workspaces is None else str(wish.workspaces),
        has_view=has_view,
        options=said_options(wish.options),
    )


def must_be_there(folder: Path) -> None:
    """Raises ExplorationError: the folder of an exploration was moved, or is gone."""
    if not is_folder(folder):
        raise ExplorationError(
            f"the folder {folder} is gone; what branches came to stays",
            hint="`agentsh sessions relink` names it anew, where it was moved",
        )


def take_up(
    configuration: Configuration,
    folders: ExploreFolders,
    wish: ResumeWish,
    tell: Callable[[ExploreNews], None],
) -> ReadyExploration:
    """Go on with an exploration. Raises ExplorationError: another process runs it."""
    running = RunLock(folders)
    engine: ExploreEngine | None = None
    try:
        log = open_exploration(folders)
        now = log.now
        plan = now.plan
        must_be_there(Path(plan.folder))
        machine = machine_here(configuration, Path(plan.folder), plan.workspaces)
        limits = replace(now.limits, **wish.limits)
        models = [row.planned.model or "" for row in now.rows]
        engine = open_engine(configuration, wish.engine(plan), limits, models)
        if engine.cluster is None:
            folders = folders.working_in(plan.workspaces)
        name, cluster = engine.wish.name, engine.wish.cluster
        log.note(ResumeFact(limits, wish.again, {**now.options, **wish.options}, name, cluster))
    except BaseException:
        if engine is not None:
            engine.close()
        running.release()
        raise
    jobs = BranchJobs(folders, machine, {})
    return _ready(engine, folders, log, running, jobs, tell)


def _ready(
    engine: ExploreEngine,
    folders: ExploreFolders,
    log: ExplorationLog,
    running: RunLock,
    jobs: BranchJobs,
    tell: Callable[[ExploreNews], None],
) -> ReadyExploration:
    hands = hands_of(engine, folders, log, jobs)
    stops_asked(folders)  # of whoever ran it before
    bounds = endpoint_bounds(engine.configuration.settings)
    coordinator = Coordinator(log, hands.jobs, hands.worker, tell, bounds)
    return ReadyExploration(
        folders, log, running, coordinator, engine, hands.worker, engine.notices
    )


def _frozen(
    git: GitCalls,
    folders: ExploreFolders,
    wanted_folders: Mapping[tuple[str, str | None], None],
    wish: ExploreWish,
    own: Sequence[Path],
) -> tuple[dict[int, FrozenBase], tuple[BaseState, ...]]:
    frozen: dict[int, FrozenBase] = {}
    bases: list[BaseState] = []
    for number, (folder, revision) in enumerate(wanted_folders):
        is_own = folder == str(wish.folder)
        earlier = _earlier(git, Path(folder), revision, wish.recorded if is_own else None)
        base, listing, commit = freeze_folder(
            git,
            Path(folder),
            folders.base(number),
            folders.store,
            brought=wish.brought if is_own else (),
            lent=[Path(folder) / path.relative_to(wish.folder) for path in wish.shared],
            own=own,
            branches=wish.limits.parallel,
            earlier=earlier,
        )
        frozen[number] = base
        bases.append(
            BaseState(
                folder=folder,
                root=str(listing.root),
                commit=commit,
                files=len(listing.paths),
                bytes=listing.size,
                left_out=listing.left_out,
                is_repository=listing.is_repository,
                revision=revision,
                head=base.head,
            )
        )
    return frozen, tuple(bases)


def _earlier(
    git: GitCalls, folder: Path, revision: str | None, recorded: RecordedState | None
) -> EarlierState | None:
    """What a base holds instead of the folder as it is. Raises UsageError, ToolFailedError."""
    root = repository_of(git, folder) or folder
    if revision is not None:
        commit = revision_named(git, folder, revision)
        if commit is None:
            raise UsageError(f"there is no revision {revision!r} in {folder}")
        return at_revision(git, root, commit)
    if recorded is not None:
        return as_recorded(git, root, folder, recorded.states, recorded.commit)
    return None


def said_options(options: TurnOptions) -> dict[str, Any]:
    """What was said, and no more."""
    usual = to_builtins(TurnOptions())
    said: dict[str, Any] = to_builtins(options)
    return {name: value for name, value in said.items() if value != usual[name]}


def interrupting(ready: ReadyExploration) -> Callable[[], None]:
    """What a signal does: the first ends it well, the second at once."""
    wishes: list[int] = []

    def interrupt() -> None:
        wishes.append(1)
        if len(wishes) == 1:
            ready.coordinator.interrupt()
        else:
            ready.coordinator.end_at_once()

    return interrupt


def started_in() -> Path:
    """The folder that the command was started in, as it really is."""
    return Path(os.path.realpath(Path.cwd()))
