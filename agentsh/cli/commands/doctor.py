"""`agentsh doctor`: what is wrong with the set-up, and what to do about it. Changes nothing.

Each finding is good, worth knowing, or wrong; exit 2 where something is wrong. The endpoint is
asked for its models, since that is what shows a wrong URL or key; where its URL leads to no API,
the usual ones of the same host are tried and told. No key is shown.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from agentsh.cli.notices import waiting_for, warn
from agentsh.cli.output import print_json, print_lines
from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.cli.parsing.options import Json
from agentsh.errors import AgentshError, UsageError
from agentsh.sanitize import safe_line

if TYPE_CHECKING:
    from agentsh.cli.setup.configuration import Configuration
    from agentsh.cli.setup.paths import Paths


WRONG = 2

# program → what is missing without it
PROGRAMS = {
    "bash": "commands run in sh",
    "git": "/undo and checkout --files keep no working files",
    "bwrap": "--sandbox is not possible (package bubblewrap)",
}


class Finding(Struct, frozen=True):
    """One line of the report."""

    level: Literal["ok", "note", "wrong"]
    subject: str
    text: str


def doctor(options: ModelOptions, json: Json = False) -> int:
    """Say what is wrong with the set-up, if anything."""
    findings = list(_findings(options))
    if json:
        rows = [{"level": f.level, "subject": f.subject, "text": f.text} for f in findings]
        print_json({"ok": all(f.level != "wrong" for f in findings), "findings": rows})
    else:
        print_lines(f"{f.level:<6} {f.subject:<12} {safe_line(f.text)}" for f in findings)
    wrong = dict.fromkeys(f.subject for f in findings if f.level == "wrong")
    if wrong:  # said where errors are said, for those who look at stdout no further
        warn([f"something is wrong with: {', '.join(wrong)}"])
    return WRONG if wrong else 0


def _findings(options: ModelOptions) -> Iterator[Finding]:
    from agentsh import __version__
    from agentsh.cli.setup.configuration import configure
    from agentsh.cli.setup.paths import find_places
    from agentsh.programs import find_program

    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("ok", "agentsh", f"{__version__} on Python {version}")
    yield from _places(find_places(os.environ, options.session_dir))
    for program, without in PROGRAMS.items():
        path = find_program(program, os.environ, Path.cwd())
        yield Finding("ok" if path else "note", program, path or f"not found: {without}")
    try:
        configuration = configure(options, os.environ, Path.cwd())
    except AgentshError as e:
        yield Finding("wrong", "settings", str(e))
        return
    for notice in configuration.notices:
        yield Finding("note", "settings", notice)
    yield from _endpoint(configuration, options)


def _places(places: Paths) -> Iterator[Finding]:
    from agentsh.files import is_folder

    for subject, folder in (("sessions", places.sessions), ("settings", places.config)):
        ancestor = folder
        impossible = _impossible(folder)
        while not os.path.lexists(ancestor) and ancestor != ancestor.parent:
            ancestor = ancestor.parent
        if impossible:
            yield Finding("wrong", subject, f"{folder}: {impossible}")
        elif not is_folder(ancestor):
            yield Finding("wrong", subject, f"{folder}: {ancestor} is no folder")
        elif not os.access(ancestor, os.W_OK | os.X_OK):
            yield Finding("wrong", subject, f"{folder}: {ancestor} is not writable")
        elif ancestor == folder and folder.stat().st_mode & 0o077:
            yield Finding("note", subject, f"{folder} can be read by others (chmod 700)")
        else:
            yield Finding("ok", subject, str(folder))


def _impossible(folder: Path) -> str | None:
    """Why no folder can ever be made there, in the system's words; None where one is or can be."""
    try:
        os.lstat(folder)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as e:
        return e.strerror or str(e)
    return None


def _endpoint(configuration: Configuration, options: ModelOptions) -> Iterator[Finding]:
    from agentsh.cli.setup.endpoint import make_provider
    from agentsh.cli.setup.keys import key_source

    endpoint = configuration.settings.endpoint
    key = key_source(endpoint, configuration.environ)
    yield Finding("ok" if key else "note", "key", f"from {key}" if key else "none")
    try:
        provider = make_provider(configuration, options, lambda text: warn([text]))
    except UsageError as e:
        yield Finding("wrong", "endpoint", f"{e}: {e.hint}" if e.hint else str(e))
        return
    try:
        with waiting_for(f"the list of models of {provider.endpoint}"):
            listed = [info.id for info in provider.models()]
    except AgentshError as e:
        yield Finding("wrong", "endpoint", f"{e}{_elsewhere(configuration, e)}")
        return
    finally:
        provider.close()
    yield Finding("ok", "endpoint", f"{provider.endpoint} lists {len(listed)} models")
    model = endpoint.model
    if model is None and not listed:
        where = _elsewhere(configuration, None)
        yield Finding("wrong", "model", f"none is chosen, and the endpoint lists none{where}")
    elif model is not None and listed and model not in listed:
        yield Finding("note", "model", f"{model} is not among those that the endpoint lists")
    else:
        yield Finding("ok", "model", model or f"{listed[0]} (the first that is listed)")


def _elsewhere(configuration: Configuration, error: AgentshError | None) -> str:
    """Where the same host does list models, if the base URL leads to no API."""
    from agentsh.cli.setup.endpoint import endpoint_settings
    from agentsh.errors import ProviderError, StreamProtocolError
    from agentsh.providers.endpoint import read_endpoint
    from agentsh.providers.http import HttpProvider

    is_missing = isinstance(error, ProviderError) and error.status in (404, 405)
    given = configuration.settings.endpoint.base_url
    if given is None or not (error is None or is_missing or isinstance(error, StreamProtocolError)):
        return ""
    endpoint = read_endpoint(given)
    asked = f"; GET {endpoint.shown}/models was asked"
    settings = endpoint_settings(configuration, given, lambda _text: None)
    key = settings.key or endpoint.password or None
    for base_url in endpoint.others:
        other = HttpProvider(replace(settings, base_url=base_url, key=key))
        try:
            lists = bool(other.models())
        except ProviderError:
            continue
        finally:
            other.close()
        if lists:
            return f"{asked}, and {base_url}/models answers: set the base URL to {base_url}"
    return asked
