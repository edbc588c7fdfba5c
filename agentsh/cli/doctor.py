"""`agentsh doctor`: what is wrong with the set-up, and what to do about it. Changes nothing.

Each finding is good, worth knowing, or wrong; exit 2 where something is wrong. The endpoint is
asked for its models, since that is what shows a wrong URL or key. No key is shown.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from agentsh import __version__
from agentsh.cli.configuration import Configuration, configure
from agentsh.cli.credentials import key_source
from agentsh.cli.endpoint import make_provider
from agentsh.cli.modeloptions import ModelOptions
from agentsh.cli.notices import warn
from agentsh.cli.output import print_json, print_lines
from agentsh.cli.places import Places, find_places
from agentsh.errors import AgentshError, UsageError
from agentsh.ui.sanitize import safe_line

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


def doctor(options: ModelOptions, *, json: bool) -> int:
    """Look at everything, and print it."""
    findings = list(_findings(options))
    if json:
        rows = [{"level": f.level, "subject": f.subject, "text": f.text} for f in findings]
        print_json({"ok": all(f.level != "wrong" for f in findings), "findings": rows})
    else:
        print_lines(f"{f.level:<6} {f.subject:<12} {safe_line(f.text)}" for f in findings)
    return WRONG if any(f.level == "wrong" for f in findings) else 0


def _findings(options: ModelOptions) -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("ok", "agentsh", f"{__version__} on Python {version}")
    yield from _places(find_places(os.environ, options.session_dir))
    for program, without in PROGRAMS.items():
        found = shutil.which(program)
        yield Finding("ok" if found else "note", program, found or f"not found: {without}")
    try:
        configuration = configure(options, os.environ, Path.cwd())
    except AgentshError as e:
        yield Finding("wrong", "settings", str(e))
        return
    for notice in configuration.notices:
        yield Finding("note", "settings", notice)
    yield from _endpoint(configuration, options)


def _places(places: Places) -> Iterator[Finding]:
    for subject, folder in (("sessions", places.sessions), ("settings", places.config)):
        at = folder
        while not at.exists() and at != at.parent:
            at = at.parent
        if not at.is_dir():
            yield Finding("wrong", subject, f"{folder}: {at} is no folder")
        elif not os.access(at, os.W_OK | os.X_OK):
            yield Finding("wrong", subject, f"{folder}: {at} is not writable")
        elif at == folder and folder.stat().st_mode & 0o077:
            yield Finding("note", subject, f"{folder} can be read by others (chmod 700)")
        else:
            yield Finding("ok", subject, str(folder))


def _endpoint(configuration: Configuration, options: ModelOptions) -> Iterator[Finding]:
    endpoint = configuration.settings.endpoint
    key = key_source(endpoint, configuration.environ)
    yield Finding("ok" if key else "note", "key", f"from {key}" if key else "none")
    try:
        provider = make_provider(configuration, options, lambda text: warn([text]))
    except UsageError as e:
        yield Finding("wrong", "endpoint", f"{e}: {e.hint}" if e.hint else str(e))
        return
    try:
        listed = [info.id for info in provider.models()]
    except AgentshError as e:
        yield Finding("wrong", "endpoint", str(e))
        return
    finally:
        provider.close()
    yield Finding("ok", "endpoint", f"{provider.endpoint} lists {len(listed)} models")
    wanted = endpoint.model
    if wanted is None and not listed:
        yield Finding("wrong", "model", "none is chosen, and the endpoint lists none")
    elif wanted is not None and listed and wanted not in listed:
        yield Finding("note", "model", f"{wanted} is not among those that the endpoint lists")
    else:
        yield Finding("ok", "model", wanted or f"{listed[0]} (the first that is listed)")
