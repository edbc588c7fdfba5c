"""`agentsh explore`: many branches from one place at once, to their end; and `explore resume`.

What each branch did is in its session and the exploration's store; nothing of the folder changes
until one is picked. Read next: cli/assembly/exploring/starting.py, explore/running/coordinator.py.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

from agentsh.cli.notices import warn
from agentsh.cli.parsing.exploreoptions import ExploreOptions, OptionalExploration, PlanOptions
from agentsh.cli.parsing.words import Argument, Option
from agentsh.errors import NoPromptError, UsageError

if TYPE_CHECKING:
    from agentsh.cli.assembly.exploring.starting import ExploreWish, ReadyExploration
    from agentsh.cli.setup.configuration import Configuration
    from agentsh.cli.setup.paths import Paths
    from agentsh.explore.log.facts import TrunkPlace
    from agentsh.explore.plan import ExploreTask
    from agentsh.ui.text.explorations import ExplorationFront

_FORMS = ("text", "json", "events")
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_AGAIN = ("failed", "blocked", "lost", "aborted", "limit")


def explore(
    options: PlanOptions,
    prompt: Annotated[
        str | None, Argument(help="the prompt (after -- if it has a dash) or - for stdin")
    ] = None,
) -> int:
    """Run several branches from one place at once, each in a copy of the folder.

    `explore list`, `show`, `diff`, `pick`, `resume`, `stop`, `export`, `rm` and `clean` work on
    explorations that there are; a prompt that is such a word comes after `--`.
    """
    from agentsh.cli.assembly.exploring import starting
    from agentsh.cli.setup.configuration import configure
    from agentsh.explore.plan import plan_branches

    _check_form(options.output)
    folder = starting.started_in()
    configuration = configure(options.of_a_branch(), os.environ, folder)
    _check_engine(options.engine or configuration.settings.explore.engine)
    warn(configuration.notices)
    tasks = _tasks(prompt, options.tasks, options.fields)
    if options.first and options.check is None and any(task.check is None for task in tasks):
        raise UsageError("--first needs a check", hint="--check CMD says which branch is good")
    model = configuration.settings.endpoint.model
    planned = plan_branches(tasks, options.model or ([model] if model else []), options.branches)
    wish = _wish(options, folder, configuration)
    _check_prices(configuration, wish, [branch.model for branch in planned])
    with _front(options.output) as front:
        ready = starting.begin_exploration(configuration, wish, tasks, planned, front.hear)
        warn(ready.notices)
        return _to_its_end(ready, front)


def _wish(options: PlanOptions, folder: Path, configuration: Configuration) -> ExploreWish:
    """What was asked for, beside the tasks; by an option, or else by the settings."""
    from agentsh.cli.assembly.exploring.starting import ExploreWish
    from agentsh.explore.log.facts import ExploreLimits

    settings = configuration.settings.explore
    said = {"parallel": settings.parallel, **options.limits()}
    limits = ExploreLimits(**said, is_first=options.first)  # type: ignore[arg-type]
    seconds = options.check_timeout
    usual = [word for word in settings.brought if _is_there(folder, word)]
    usual_shared = [word for word in settings.share if _is_there(folder, word)]
    trunk = (options.last, options.session, options.from_entry)
    return ExploreWish(
        folder=folder,
        limits=limits,
        options=options.of_a_branch(),
        trunk=_trunk(configuration.places, folder, *trunk),
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
    from agentsh.files import from_home, is_folder

    path = from_home(word)
    if not path.is_absolute() or not is_folder(path):
        raise UsageError(f"explore.workspaces {word}: there is no such folder")
    return Path(os.path.realpath(path))


def explore_resume(
    options: ExploreOptions,
    exploration: OptionalExploration = "last",
    again: Annotated[
        list[str],
        Option("--again", metavar="STATUS", help="failed, blocked or lost: take these as well"),
    ] = [],  # noqa: B006
) -> int:
    """Go on with what was queued, cut, aborted, or stopped at a limit."""
    from agentsh.cli.assembly.exploring import starting
    from agentsh.cli.lookup.finding import store_of
    from agentsh.cli.setup.configuration import configure
    from agentsh.explore.log.folder import find_exploration

    _check_form(options.output)
    for word in again:
        if word not in _AGAIN:
            raise UsageError(f"--again {word!r} is none of {', '.join(_AGAIN)}")
    folder = starting.started_in()
    configuration = configure(options.of_a_branch(), os.environ, folder)
    _check_engine(options.engine or configuration.settings.explore.engine)
    places = configuration.places
    folders = find_exploration(store_of(places), places.data, folder, exploration)
    said = starting.said_options(options.of_a_branch())
    with _front(options.output) as front:
        ready = starting.take_up(configuration, folders, options.limits(), said, again, front.hear)
        return _to_its_end(ready, front)


def _to_its_end(ready: ReadyExploration, front: ExplorationFront) -> int:
    from agentsh.cli.assembly.exploring.starting import interrupting
    from agentsh.explore.log.values import exploration_json

    try:
        front.begin(ready.folders, ready.session, ready.log.now)
        with _signals(interrupting(ready), ready.coordinator.heed):
            code = ready.coordinator.run()
        now = ready.log.now
        front.end(exploration_json(ready.folders, ready.session, now, runner=None), now)
    finally:
        ready.close()
    name = ready.folders.name
    if code == 130:
        warn([f"interrupted; `agentsh explore resume {name}` goes on"])
    elif now.stopped is not None and now.stopped.error is not None:
        warn([f"stopped: {now.stopped.error}; `agentsh explore resume {name}` goes on"])
    elif now.limited is not None:
        warn([f"stopped at a limit: {now.limited}; `agentsh explore resume {name}` goes on"])
    return code


@contextmanager
def _signals(interrupt: Callable[[], None], heed: Callable[[], None]) -> Iterator[None]:
    def stop(_number: int, _frame: FrameType | None) -> None:
        interrupt()

    def listen(_number: int, _frame: FrameType | None) -> None:
        heed()

    handlers = {**dict.fromkeys(_STOPPING, stop), signal.SIGUSR1: listen}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _front(output: str) -> Iterator[ExplorationFront]:
    if output == "text" and sys.stderr.isatty():
        from agentsh.ui.text.liveexploration import live_front

        with live_front(sys.stdout, sys.stderr) as live:
            yield live
        return
    from agentsh.ui.text.explorations import open_front

    with open_front(output, sys.stdout, sys.stderr) as front:
        yield front


# ---- what the words mean -------------------------------------------------------------------------


def _check_form(output: str) -> None:
    if output not in _FORMS:
        raise UsageError(f"--output {output!r} is none of {', '.join(_FORMS)}")


def _check_engine(engine: str) -> None:
    if engine != "local":
        raise UsageError(f"--engine {engine!r}: there is only `local`")


def _tasks(prompt: str | None, file: str | None, fields: list[str]) -> tuple[ExploreTask, ...]:
    from agentsh.explore.plan import ExploreTask, read_tasks
    from agentsh.files import is_folder

    if file is None:
        text = sys.stdin.read() if prompt == "-" else prompt
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

    def folder_named(word: str) -> str | None:
        folder = task_file.parent / word
        return os.path.realpath(folder) if is_folder(folder) else None

    return read_tasks(text, file, names, folder_named)


def _globs(patterns: list[str]) -> tuple[str, ...]:
    """Those of --protect. Raises UsageError: one is no glob, which is said before any is paid."""
    from agentsh.explore.workspace.capture import paths_named
    from agentsh.tools.search.globs import GlobError

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


def _trunk(
    places: Paths, folder: Path, last: bool, session: str | None, at: str | None
) -> TrunkPlace | None:
    """Where the branches begin; the session is only read."""
    from agentsh.cli.lookup.finding import find_named, store_of
    from agentsh.errors import SessionNotFoundError
    from agentsh.explore.log.facts import TrunkPlace
    from agentsh.session.file.session import open_session

    if last and session is not None:
        raise UsageError("-c and --session exclude each other")
    if not last and session is None:
        if at is not None:
            raise UsageError("--at needs -c or --session")
        return None
    store = store_of(places)
    path = store.latest(str(folder)) if session is None else find_named(store, session, str(folder))
    if path is None:
        raise SessionNotFoundError(f"there is no session of {folder} to go on from")
    with open_session(path, write=False) as trunk:
        leaf = trunk.leaf if at is None else trunk.resolve(at)
        return TrunkPlace(trunk.header.id, str(path), leaf)


def _check_prices(
    configuration: Configuration, wish: ExploreWish, models: list[str | None]
) -> None:
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
