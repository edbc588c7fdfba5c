"""Reads what is configured: places, the user's settings, the project's where trusted, environment.

The one way from argv and environment to a `Settings`. It reads files and writes none (but the
answer to a question of trust). Warnings and what was left out are texts for stderr.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.cli.setup.paths import Paths, find_places
from agentsh.cli.setup.trust import (
    as_text,
    find_project_files,
    parse_dotenv,
    read_contents,
    read_text,
    trust,
)
from agentsh.settinglayers import Layer, load
from agentsh.settings import Settings

# what a trusted .env may say; AGENTSH_HOME and the like would move the user's own files
IN_BRANCH = "AGENTSH_IN_BRANCH"
"""Says that we are in the view of a branch's workspace, and the file of its session."""
_FROM_DOTENV = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AGENTSH_MODEL")


class Configuration(Struct, frozen=True):
    """Everything that a command needs to know before it starts."""

    places: Paths
    settings: Settings
    environ: Mapping[str, str]
    """The process environment, with what a trusted .env adds."""
    notices: tuple[str, ...]
    """Lines for stderr: unknown settings, what was left out for want of trust."""
    not_used: tuple[Path, ...] = ()
    """The project's settings files that were left out for want of trust."""
    skill_folders: tuple[Path, ...] = ()
    """The project's folders of skills and templates, where they are trusted."""
    shown: tuple[Path, ...] = ()
    """Of agentsh's own folders what commands in the sandbox read all the same."""


def configure(
    options: ModelOptions,
    environ: Mapping[str, str],
    cwd: Path,
    ask: Callable[[str], bool] | None = None,
) -> Configuration:
    """Read it all. `ask` puts a question of trust to a person. Raises SettingsError."""
    places = find_places(environ, options.session_dir)
    project = find_project_files(cwd, places)
    contents = read_contents(project)
    trusted = trust(project, contents, places, once=options.trust, ask=ask)
    # a link that leads nowhere is there, and told of; it was meant to say something
    texts: dict[Path, str] = {}
    if os.path.lexists(places.settings):
        texts[places.settings] = read_text(places.settings)
    notices: list[str] = []
    if trusted.counts:
        texts |= {file: as_text(file, contents[file]) for file in project.settings}
        added: dict[str, str] = {}
        for file in project.dotenv:
            added.update(parse_dotenv(as_text(file, contents[file])))
        environ = {**{name: added[name] for name in _FROM_DOTENV if name in added}, **environ}
    left = () if trusted.counts else project.all
    left = left if trusted.skills else (*left, *project.folders)
    if left:
        named = ", ".join(str(p.relative_to(project.root)) for p in left)
        notices.append(f"not used, since {trusted.why}: {named} (--trust uses it)")
    settings = load(_layers(texts), environ, options.settings())
    if IN_BRANCH in environ:  # its files are recorded by the exploration
        settings = replace(settings, undo=replace(settings.undo, enabled=False))
    not_used = () if trusted.counts else project.settings
    folders = project.folders if trusted.skills else ()
    notices += settings.warnings
    return Configuration(places, settings, environ, tuple(notices), not_used, folders)


def _layers(texts: Mapping[Path, str]) -> list[Layer]:
    if not texts:
        return []
    from agentsh.settingstext import read_settings  # tomllib, only where there is something to read

    return [read_settings(text, str(file)) for file, text in texts.items()]
