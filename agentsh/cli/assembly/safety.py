"""Safe hands, put together: the sandbox, what is said of it, the checkpointer, jobs that still run.

Each is loaded where it is asked for and no earlier. Read next: tools/shell/sandbox.py,
tools/undo/checkpointer.py, tools/shell/jobs.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentsh.agent.workbench import Workbench
from agentsh.cli.setup.configuration import Configuration
from agentsh.cli.setup.keys import without_keys
from agentsh.cli.setup.paths import Paths
from agentsh.files import is_regular, real
from agentsh.jsontext import JsonValue
from agentsh.settings import HOOK_TIMES, Policy, Settings

if TYPE_CHECKING:
    from agentsh.tools.shell.sandbox import Sandbox
    from agentsh.tools.undo.checkpointer import Checkpointer


def own_folders(places: Paths) -> tuple[Path, ...]:
    """Where agentsh keeps its things: hidden in the sandbox, never recorded, never just edited."""
    folders = dict.fromkeys((places.config, places.data, places.state, places.sessions))
    return tuple(real(folder) for folder in folders)


def shown_folders(places: Paths) -> tuple[Path, ...]:
    """What of them is shown in the sandbox all the same: skills that the model is told of."""
    return (real(places.config / "skills"),)


def order_files(settings: Settings, cwd: Path) -> tuple[Path, ...]:
    """Files of the project that the settings name in commands: what is written there is run later.

    `cwd` is a real path. What such a file runs in its turn is not known.
    """
    commands = [command for when in HOOK_TIMES for command in getattr(settings.hooks, when)]
    commands += [str(table["run"]) for table in settings.tools.command.values() if "run" in table]
    if settings.endpoint.api_key_command:
        commands.append(settings.endpoint.api_key_command)
    for server in settings.servers.values():
        folder = cwd / (server.cwd or ".")
        commands += [str(folder / word) for word in (server.command or "", *server.args) if word]
    words = {
        word for command in commands for word in re.split(r"[\s'\"|&;<>()=]+", command) if word
    }
    paths = (real(cwd / word) for word in words if len(word) < 4096)
    return tuple(path for path in paths if path.is_relative_to(cwd) and is_regular(path))


def is_wide(folder: Path, home: Path) -> bool:
    """Whether so much lies in that folder that "inside" protects nothing: the home, or above it."""
    return real(home).is_relative_to(folder)


def confine(configuration: Configuration, cwd: Path) -> Sandbox | None:
    """The sandbox where it is asked for. Raises UsageError: there is none, or it fails here."""
    settings = configuration.settings
    if not settings.sandbox.enabled:
        return None
    from agentsh.tools.shell.sandbox import open_sandbox

    return open_sandbox(
        configuration.environ,
        cwd,
        own_folders(configuration.places),
        network=settings.sandbox.network,
        shown=(*shown_folders(configuration.places), *configuration.shown),
        kept=(cwd / ".agentsh", cwd / ".env", *order_files(settings, cwd)),
    )


def keeping(places: Paths, environ: Mapping[str, str], cwd: Path) -> Callable[[], Checkpointer]:
    """Makes the checkpointer of that folder's states at its first use."""

    def make() -> Checkpointer:
        from agentsh.tools.undo.checkpointer import Checkpointer

        own = without_keys(environ)
        return Checkpointer(cwd, places.checkpoints, own, own_folders(places))

    return make


def jobs_left(details: Iterable[JsonValue], session: str) -> tuple[str, ...]:
    """The jobs of an earlier process that it could not end, because it was killed; in words.

    `details` are those of the session's stored results; the one that began a job names it.
    """
    started = [each for each in details if isinstance(each, dict) and "job" in each]
    if not started:
        return ()
    from agentsh.tools.shell import jobs

    running = [each for each in started if jobs.adopt(each, session)]
    return tuple(
        f"still running since an earlier start: job {job.get('id')}: {job.get('command')}"
        for each in running
        if isinstance(job := each.get("job"), dict)
    )


def told_of_hands(bench: Workbench, details: Iterable[JsonValue]) -> tuple[str, ...]:
    """What a person should know of a session's hands. `details`: as for jobs_left."""
    trouble = bench.grants.trouble
    left = jobs_left(details, bench.session_id)
    return (*([trouble] if trouble else []), *left, *_said_of_home(bench))


def _said_of_home(bench: Workbench) -> tuple[str, ...]:
    """The sandbox leaves its folder writable; where that is the home, it protects little."""
    if bench.sandbox is None or not is_wide(bench.cwd, bench.home):
        return ()
    return (
        f"in the sandbox commands can write everything in {bench.cwd}, your home folder with its"
        f" settings included: {_WIDE[bench.policy]}. Start in a project's folder instead.",
    )


_WIDE: Final[Mapping[Policy, str]] = {
    "never": "all but reading is refused",
    "ask": "you are asked about each",
    "edits": "edits are done unasked",
    "all": "nothing is asked",
}
