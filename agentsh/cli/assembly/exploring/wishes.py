"""What the options and the settings of `agentsh explore` ask for: tasks, trunk, files, limits.

Everything that is wrong with it is said here, before anything is made. Read next: starting.py.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from msgspec import Struct

from agentsh.agent.files.filestates import state_at
from agentsh.agent.moving import destination
from agentsh.cli.assembly.exploring.engines import ENGINES, EngineWish
from agentsh.cli.assembly.exploring.starting import ExploreWish, RecordedState
from agentsh.cli.assembly.safety import keeping
from agentsh.cli.lookup.finding import find_named, store_of
from agentsh.cli.parsing.exploreoptions import ExploreOptions, PlanOptions
from agentsh.cli.setup.configuration import Configuration
from agentsh.cli.setup.keys import without_keys
from agentsh.cli.setup.paths import Paths
from agentsh.cli.setup.standard_streams import read_input
from agentsh.errors import (
    ExplorationError,
    NoPromptError,
    SessionNotFoundError,
    ToolFailedError,
    UsageError,
)
from agentsh.explore.log.facts import ClusterPlace, ExploreLimits, TrunkPlace
from agentsh.explore.plan import ExploreTask, read_tasks
from agentsh.explore.workspace.capture import paths_named
from agentsh.explore.workspace.earlier import revision_named
from agentsh.explore.workspace.gitcalls import GitCalls, find_git
from agentsh.files import from_home, is_folder
from agentsh.session.file.session import open_session
from agentsh.session.format.entries import EntryId
from agentsh.tools.search.globs import GlobError


def wish_of(options: PlanOptions, folder: Path, configuration: Configuration) -> ExploreWish:
    """What was asked for, beside the tasks; by an option, or else by the settings."""
    settings = configuration.settings.explore
    said = {"parallel": settings.parallel, **options.limits()}
    limits = ExploreLimits(**said, is_first=options.first)  # type: ignore[arg-type]
    seconds = options.check_timeout
    usual = [word for word in settings.brought if _is_there(folder, word)]
    usual_shared = [word for word in settings.share if _is_there(folder, word)]
    trunk = _trunk(configuration.places, folder, options)
    return ExploreWish(
        folder=folder,
        limits=limits,
        options=options.of_a_branch(),
        trunk=trunk,
        recorded=_recorded(configuration, folder, options, trunk),
        name=options.name,
        check=options.check,
        check_timeout=600.0 if seconds is None else seconds,
        protect=_globs(options.protect),
        setup=(settings.setup if options.setup is None else options.setup) or None,
        brought=_inside("--with", [*usual, *options.bring], folder),
        shared=_inside("--share", [*usual_shared, *options.share], folder),
        workspaces=_workspaces(settings.workspaces),
    )


def _is_there(folder: Path, word: str) -> bool:
    """What the settings name for all projects need not be in this one."""
    return os.path.lexists(folder / word)


def _workspaces(word: str | None) -> Path | None:
    """Raises UsageError: it is no folder."""
    if word is None:
        return None
    path = from_home(word)
    if not path.is_absolute() or not is_folder(path):
        raise UsageError(f"explore.workspaces {word}: there is no such folder")
    return Path(os.path.realpath(path))


def tasks_asked(
    configuration: Configuration,
    folder: Path,
    prompt: str | None,
    file: str | None,
    fields: list[str],
) -> tuple[ExploreTask, ...]:
    """The prompt, or the tasks of a file. Raises UsageError that names FILE:LINE."""
    if file is None:
        text = read_input(sys.stdin) if prompt == "-" else prompt
        if text is None or not text.strip():
            raise NoPromptError("there is no prompt", hint="a prompt, `-`, or --tasks FILE")
        return (ExploreTask("1", text),)
    if prompt is not None:
        raise UsageError("a prompt and --tasks exclude each other")
    names = {}
    for each in fields:
        ours, equal, theirs = each.partition("=")
        if not equal or not ours or not theirs:
            raise UsageError(f"--field {each!r} is no OURS=NAME")
        names[ours] = theirs
    task_file = Path(file)
    try:
        text = task_file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise UsageError(f"--tasks {file}: {e}") from e

    return read_tasks(text, file, names, _Places(configuration, folder, task_file.parent))


class _Places(Struct, frozen=True):
    """Satisfies plan.TaskPlaces. `beside`: the folder of the file of tasks."""

    configuration: Configuration
    here: Path
    beside: Path

    def folder(self, word: str) -> str | None:
        folder = self.beside / word
        return os.path.realpath(folder) if is_folder(folder) else None

    def has_revision(self, folder: str | None, word: str) -> bool:
        there = self.here if folder is None else Path(folder)
        return revision_named(_git(self.configuration, there), there, word) is not None


def _git(configuration: Configuration, folder: Path) -> GitCalls:
    """Raises UsageError: there is none."""
    try:
        return find_git(without_keys(configuration.environ), folder, lists=False)
    except ToolFailedError as e:
        raise UsageError(f"explore needs git: {e}", hint="install git") from e


def _globs(patterns: list[str]) -> tuple[str, ...]:
    """Those of --protect. Raises UsageError: one is no glob, which is said before any is paid."""
    try:
        paths_named((), patterns)
    except GlobError as e:
        raise UsageError(f"--protect: {e}") from e
    return tuple(patterns)


def _inside(option: str, words: list[str], folder: Path) -> tuple[Path, ...]:
    paths = []
    for word in words:
        path = Path(os.path.normpath(folder / word))
        if path == folder or not path.is_relative_to(folder):
            raise UsageError(f"{option} {word}: not inside {folder}")
        if not os.path.lexists(path):
            raise UsageError(f"{option} {word}: there is no such file or folder")
        if os.path.realpath(path.parent) != str(path.parent):
            raise UsageError(f"{option} {word}: a link leads out of {folder} there")
        paths.append(path)
    return tuple(paths)


def _trunk(places: Paths, folder: Path, options: PlanOptions) -> TrunkPlace | None:
    """Where the branches begin, as for `run`; the session is only read."""
    last, session, entry = options.last, options.session, options.from_entry
    if last and session is not None:
        raise UsageError("-c and --session exclude each other")
    if options.files and entry is None:
        raise UsageError("--files needs --at", hint="--at ENTRY says of which place")
    if not last and session is None:
        if entry is not None:
            raise UsageError("--at needs -c or --session")
        return None
    store = store_of(places)
    path = store.latest(str(folder)) if session is None else find_named(store, session, str(folder))
    if path is None:
        raise SessionNotFoundError(f"there is no session of {folder} to go on from")
    with open_session(path, write=False) as trunk:
        leaf = trunk.leaf
        if entry is not None:
            target = trunk.resolve(entry)
            leaf = None if target is None else destination(trunk.entry(target))[0]
        return TrunkPlace(trunk.header.id, str(path), leaf)


def _recorded(
    configuration: Configuration, folder: Path, options: PlanOptions, trunk: TrunkPlace | None
) -> RecordedState | None:
    """The state of the files at the trunk's entry, where that is asked for.

    Raises ExplorationError: none is on record, or one of another folder.
    """
    if not options.files or trunk is None:
        return None
    with open_session(Path(trunk.path), write=False) as session:
        state = state_at(session, None if trunk.leaf is None else EntryId(trunk.leaf))
    checkpointer = keeping(configuration.places, configuration.environ, folder)()
    own = checkpointer.store
    is_known = state is not None and state.exact and state.fact.store == own
    if state is None or not is_known or not checkpointer.has(own):
        raise ExplorationError(
            f"no state of the files of {folder} is recorded at {options.from_entry}",
            hint="without --files the branches begin with the files as they are now",
        )
    return RecordedState(checkpointer.stores / own, state.fact.commit)


def check_prices(configuration: Configuration, wish: ExploreWish, models: list[str | None]) -> None:
    """A limit in money needs a price for each model. Raises UsageError."""
    if wish.limits.cost is None:
        return
    from agentsh.cli.assembly.wiring import providing

    with providing(configuration, wish.options) as provider:
        for model in dict.fromkeys(models):
            info = None if model is None else provider.model_info(model)
            if info is None or not info.prices:
                raise UsageError(
                    f"--cost-limit: no price of {model or 'the model'} is known",
                    hint="[models.ID] prices in the settings, or --token-limit",
                )


def engine_of(options: ExploreOptions, usual: str, planned: ClusterPlace | None) -> EngineWish:
    """What was said, or is usual; a cluster as it was planned. Raises UsageError."""
    name = options.engine or usual
    if name not in ENGINES:
        raise UsageError(f"--engine {name!r} is none of {', '.join(ENGINES)}")
    if name != "ray":
        if options.ray_address or options.slots or options.send_key:
            raise UsageError("--ray-address, --slots and --send-key are of --engine ray")
        return EngineWish(name)
    before = planned or ClusterPlace()
    address, slots = options.ray_address or before.address, options.slots or before.slots
    return EngineWish(name, ClusterPlace(address, slots), options.send_key)
