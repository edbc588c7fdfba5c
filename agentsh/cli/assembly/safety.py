"""Safe hands, put together: the sandbox, what is said of it, the checkpointer, jobs that still run.

Each is loaded where it is asked for and no earlier. Read next: tools/shell/sandbox.py,
tools/undo/checkpointer.py, tools/shell/jobs.py.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentsh.agent.workbench import Workbench
from agentsh.cli.setup.configuration import Configuration
from agentsh.cli.setup.keys import without_keys
from agentsh.cli.setup.paths import Paths
from agentsh.files import from_home, is_absent, is_folder, is_regular, real
from agentsh.jsontext import JsonValue
from agentsh.settings import HOOK_TIMES, Policy, Settings

if TYPE_CHECKING:
    from agentsh.tools.shell.sandbox import Sandbox
    from agentsh.tools.undo.checkpointer import Checkpointer


_WORDS: Final = re.compile(r"[\s'\"`|&;<>(){}=,]+")


def own_folders(places: Paths) -> tuple[Path, ...]:
    """Where agentsh keeps its things: hidden in the sandbox, never recorded, never just edited."""
    folders = dict.fromkeys((places.config, places.data, places.state, places.sessions))
    return tuple(real(folder) for folder in folders)


def shown_folders(places: Paths) -> tuple[Path, ...]:
    """What of them is shown in the sandbox all the same: skills that the model is told of."""
    return (real(places.config / "skills"),)


def order_files(settings: Settings, cwd: Path) -> tuple[Path, ...]:
    """Files of the project that the settings name in commands: what is written there is run later.

    There already or new. `cwd` is a real path. What such a file runs in its turn is not known, nor
    what a pattern means.
    """
    commands = _unconfined(settings)
    commands += [str(table["run"]) for table in settings.tools.command.values() if "run" in table]
    files = {path for command in commands for path in _named_in(command, cwd, cwd)}
    for server in settings.servers.values():
        folder = cwd / from_home(server.cwd or ".")
        for words in (server.command or "", *server.args, *server.env.values()):
            files.update(_named_in(words, cwd, folder))
        files.update(_named_in(" ".join(server.args), cwd, folder))
    return tuple(sorted(path for path in files if path.is_relative_to(cwd)))


def _unconfined(settings: Settings) -> list[str]:
    """The commands of the settings that no sandbox confines."""
    commands = [command for when in HOOK_TIMES for command in getattr(settings.hooks, when)]
    endpoints = (settings.endpoint, *settings.endpoints.values())
    commands += [each.api_key_command for each in endpoints if each.api_key_command]
    servers = [each for each in settings.servers.values() if not each.sandbox]
    return commands + [each.command for each in servers if each.command]


def _named_in(command: str, cwd: Path, base: Path) -> Iterator[Path]:
    """Where the words of a command may lead: from `base`, or from a folder that it names before.

    What a variable or a substitution stands for is not known: the project's folder is tried.
    """
    plain = re.sub(r"\$\{(\w+)\}", r"$\1", command)
    for text in dict.fromkeys((plain, re.sub("[\"']", "", plain))):
        bases = [base]
        words = [word for word in _WORDS.split(text) if 0 < len(word) < 1024]
        for before, word in pairwise(("", *words)):
            inner = re.sub(r"\A\$\w+", "", word).lstrip("/")
            spellings = [word, inner, str(Path.home() / inner)]
            if before == "-m":  # a module of Python
                module = word.replace(".", "/")
                spellings += [f"{module}.py", f"{module}/__main__.py", f"{module}/__init__.py"]
            candidates = [
                each / from_home(spelling) for each in (cwd, *bases) for spelling in spellings
            ]
            is_named = "/" in word or "." in word or before == "-m"
            yield from (
                real(candidate)
                for candidate in candidates
                if is_regular(candidate) or (is_named and is_absent(candidate))
            )
            if before in ("cd", "pushd", "-C", "--prefix", "--directory"):
                bases += [candidate for candidate in candidates if is_folder(candidate)]


def named_orders(cwd: Path, environ: Mapping[str, str]) -> Callable[[], tuple[Path, ...]]:
    """Asked at an edit: what of the project git's settings, variables or links in the home name."""

    def ask() -> tuple[Path, ...]:
        from agentsh.cli.setup import namedorders

        asked = (namedorders.git_orders, namedorders.variable_orders, namedorders.linked_orders)
        return tuple(path for each in asked for path in each(cwd, environ))

    return ask


def own_installation(cwd: Path) -> tuple[Path, ...]:
    """The environment that agentsh is installed in, where that is the project's `.venv`.

    What is written there (a `.pth` file, a module) is run by agentsh's next start. `cwd` is real.
    """
    folder = real(Path(sys.prefix))
    return (folder,) if folder.is_relative_to(cwd) and folder != cwd else ()


def is_wide(folder: Path, home: Path) -> bool:
    """Whether so much lies in that folder that "inside" protects nothing: the home, or above it."""
    return real(home).is_relative_to(folder)


def confine(configuration: Configuration, cwd: Path) -> Sandbox | None:
    """The sandbox where it is asked for. Raises UsageError: there is none, or it fails here."""
    settings = configuration.settings
    if not settings.sandbox.enabled:
        return None
    from agentsh.cli.setup.namedorders import folders_of_path
    from agentsh.tools.shell.sandbox import open_sandbox

    started_by_name = folders_of_path(cwd, configuration.environ) if _unconfined(settings) else ()
    return open_sandbox(
        configuration.environ,
        cwd,
        own_folders(configuration.places),
        network=settings.sandbox.network,
        shown=(*shown_folders(configuration.places), *configuration.shown),
        kept=(
            *(cwd / ".agentsh", cwd / ".env", *own_installation(cwd)),
            *filter(is_regular, order_files(settings, cwd)),
            *started_by_name,
        ),
    )


def keeping(places: Paths, environ: Mapping[str, str], cwd: Path) -> Callable[[], Checkpointer]:
    """Makes the checkpointer of that folder's states at its first use."""

    def make() -> Checkpointer:
        from agentsh.tools.undo.checkpointer import Checkpointer

        own = without_keys(environ)
        return Checkpointer(cwd, places.checkpoints, own, own_folders(places))

    return make


def jobs_left(details: Iterable[JsonValue], session: str, outputs: Path) -> tuple[str, ...]:
    """The jobs of an earlier process that it could not end, because it was killed; in words.

    `details` are those of the session's stored results; the one that began a job names it.
    `outputs`: the folder of whole outputs.
    """
    started = [each for each in details if isinstance(each, dict) and "job" in each]
    if not started:
        return ()
    from agentsh.tools.shell import jobs

    running = [each for each in started if jobs.adopt(each, session, outputs)]
    return tuple(
        f"still running since an earlier start: job {job.get('id')}: {job.get('command')}"
        for each in running
        if isinstance(job := each.get("job"), dict)
    )


def told_of_hands(bench: Workbench, details: Iterable[JsonValue]) -> tuple[str, ...]:
    """What a person should know of a session's hands. `details`: as for jobs_left."""
    trouble = bench.grants.trouble
    left = jobs_left(details, bench.session_id, bench.output_dir)
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
