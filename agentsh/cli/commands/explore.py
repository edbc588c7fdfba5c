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
from types import FrameType
from typing import TYPE_CHECKING, Annotated

from agentsh.cli.notices import warn
from agentsh.cli.parsing.exploreoptions import ExploreOptions, OptionalExploration, PlanOptions
from agentsh.cli.parsing.words import Argument, Option
from agentsh.errors import UsageError

if TYPE_CHECKING:
    from agentsh.cli.assembly.exploring.starting import ReadyExploration
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
    """Run several branches at once, each in a copy of the folder.

    `explore list`, `show`, `diff`, `pick`, `resume`, `stop`, `export`, `rm` and `clean` work on
    explorations that there are; a prompt that is such a word comes after `--`.
    """
    from contextlib import closing

    from agentsh.cli.assembly.exploring import starting, wishes
    from agentsh.cli.assembly.exploring.engines import open_engine
    from agentsh.cli.setup.configuration import configure
    from agentsh.explore.plan import plan_branches

    _check_form(options.output)
    folder = starting.started_in()
    configuration = configure(options.of_a_branch(), os.environ, folder)
    engine_wish = wishes.engine_of(options, configuration.settings.explore.engine, None)
    warn(configuration.notices)
    tasks = wishes.tasks_asked(configuration, folder, prompt, options.tasks, options.fields)
    if options.first and options.check is None and any(task.check is None for task in tasks):
        raise UsageError("--first needs a check", hint="--check CMD says which branch is good")
    model = configuration.settings.endpoint.model
    planned = plan_branches(tasks, options.model or ([model] if model else []), options.branches)
    wish = wishes.wish_of(options, folder, configuration)
    wishes.check_prices(configuration, wish, [branch.model for branch in planned])
    models = [branch.model or "" for branch in planned]
    engine = open_engine(configuration, engine_wish, wish.limits, models)
    with closing(engine), _front(options.output) as front:
        ready = starting.begin_exploration(engine, wish, tasks, planned, front.hear)
        warn(ready.notices)
        return _to_its_end(ready, front)


def explore_resume(
    options: ExploreOptions,
    exploration: OptionalExploration = "last",
    again: Annotated[
        list[str],
        Option("--again", metavar="STATUS", help="failed, blocked or lost: take these as well"),
    ] = [],  # noqa: B006
) -> int:
    """Go on with what was queued, cut, aborted, or stopped at a limit."""
    from agentsh.cli.assembly.exploring import starting, wishes
    from agentsh.cli.lookup.finding import store_of
    from agentsh.cli.setup.configuration import configure
    from agentsh.explore.log.folder import find_exploration

    _check_form(options.output)
    for word in again:
        if word not in _AGAIN:
            raise UsageError(f"--again {word!r} is none of {', '.join(_AGAIN)}")
    folder = starting.started_in()
    configuration = configure(options.of_a_branch(), os.environ, folder)
    places = configuration.places
    folders = find_exploration(store_of(places), places.data, folder, exploration)
    said = starting.said_options(options.of_a_branch())
    wish = starting.ResumeWish(
        options.limits(),
        said,
        tuple(again),
        lambda plan: wishes.engine_of(options, plan.engine, plan.cluster),
    )
    with _front(options.output) as front:
        ready = starting.take_up(configuration, folders, wish, front.hear)
        warn(ready.notices)
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


def _check_form(output: str) -> None:
    if output not in _FORMS:
        raise UsageError(f"--output {output!r} is none of {', '.join(_FORMS)}")
