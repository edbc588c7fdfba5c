"""Safe hands, put together: the sandbox, the keeper of the files' states, jobs that still run.

Each is loaded where it is asked for and no earlier. Read next: tools/sandbox.py, tools/keeper.py,
tools/jobs.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agentsh.agent.checkpoints import Keeper
from agentsh.cli.configuration import Configuration
from agentsh.cli.places import Places
from agentsh.jsontext import JsonValue

if TYPE_CHECKING:
    from agentsh.tools.sandbox import Sandbox


def own_folders(places: Places) -> tuple[Path, ...]:
    """Where agentsh keeps its things: hidden in the sandbox, never recorded, never just edited."""
    folders = dict.fromkeys((places.config, places.data, places.state, places.sessions))
    return tuple(folder.resolve() for folder in folders)


def confine(configuration: Configuration, cwd: Path) -> Sandbox | None:
    """The sandbox where it is asked for. Raises UsageError: there is none, or it fails here."""
    settings = configuration.settings
    if not settings.sandbox:
        return None
    from agentsh.tools.sandbox import open_sandbox

    return open_sandbox(
        configuration.environ,
        cwd,
        own_folders(configuration.places),
        network=settings.sandbox_network,
    )


def keeping(places: Places, environ: Mapping[str, str], cwd: Path) -> Callable[[], Keeper]:
    """Makes the keeper of that folder's states at its first use."""

    def make() -> Keeper:
        from agentsh.tools.keeper import Keeper as FolderKeeper

        return FolderKeeper(cwd, places.checkpoints, environ, own_folders(places))

    return make


def still_running(details: Iterable[JsonValue]) -> tuple[str, ...]:
    """The jobs of an earlier process that it could not end, because it was killed; in words.

    `details` are those of stored results; the one that began a job names it.
    """
    started = [each for each in details if isinstance(each, dict) and "job" in each]
    if not started:
        return ()
    from agentsh.tools import jobs

    running = [each for each in started if jobs.adopt(each)]
    return tuple(
        f"still running since an earlier start: job {job.get('id')}: {job.get('command')}"
        for each in running
        if isinstance(job := each.get("job"), dict)
    )
