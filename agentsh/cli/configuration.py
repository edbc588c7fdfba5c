"""Reads what is configured: places, the user's settings, the project's where trusted, environment.

The one way from argv and environment to a `Settings`. It reads files and writes none (but the
answer to a question of trust). Warnings and what was left out are texts for stderr.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from agentsh.cli.modeloptions import ModelOptions
from agentsh.cli.places import Places, find_places
from agentsh.cli.trust import find_project_files, is_trusted, parse_dotenv, read_text
from agentsh.settings import Layer, Settings, load

# what a trusted .env may say; AGENTSH_HOME and the like would move the user's own files
_FROM_DOTENV = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AGENTSH_MODEL")


class Configuration(Struct, frozen=True):
    """Everything that a command needs to know before it starts."""

    places: Places
    settings: Settings
    environ: Mapping[str, str]
    """The process environment, with what a trusted .env adds."""
    notices: tuple[str, ...]
    """Lines for stderr: unknown settings, what was left out for want of trust."""


def configure(
    options: ModelOptions,
    environ: Mapping[str, str],
    cwd: Path,
    ask: Callable[[str], bool] | None = None,
) -> Configuration:
    """Read it all. `ask` puts a question of trust to a person. Raises SettingsError."""
    places = find_places(environ, options.session_dir)
    project = find_project_files(cwd, places)
    trusted = is_trusted(project, places, once=options.trust, ask=ask)
    # a link that leads nowhere is there, and told of; it was meant to say something
    files = [places.settings] if os.path.lexists(places.settings) else []
    notices: list[str] = []
    if trusted:
        files += project.settings
        added: dict[str, str] = {}
        for file in project.dotenv:
            added.update(parse_dotenv(read_text(file)))
        environ = {**{name: added[name] for name in _FROM_DOTENV if name in added}, **environ}
    elif project.all:
        named = ", ".join(str(p.relative_to(project.root)) for p in project.all)
        notices.append(f"not used, since {project.root} is not trusted: {named} (--trust uses it)")
    settings = load(_layers(files), environ, options.settings())
    return Configuration(places, settings, environ, (*notices, *settings.warnings))


def _layers(files: list[Path]) -> list[Layer]:
    if not files:
        return []
    from agentsh.settingstext import read  # tomllib, only where there is something to read

    return [read(read_text(file), str(file)) for file in files]
