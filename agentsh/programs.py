"""The one door for every program that agentsh starts by name on its own account.

A name is looked for in the absolute folders of PATH. What lies in the project, or is reached
through a link that lies in it, is never taken: a clone may bring a program of that name, and a
command of the model may write one. The caller gets an absolute path, so that nothing is looked up
again. A child gets the variables named here and no others; whoever needs more names it. Whoever
starts a program ends its options (`--`, `--end-of-options`) before words that come from a file, and
starts Python with `-P` or `-I`.
This module starts nothing itself; who does stands in tests/test_doors.py. What a person or the
model types is the shell's business (tools/shell/bash.py).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

OWN_PROGRAM: Final = (sys.executable, "-P", "-m", "agentsh")
"""This very program as a child. Without `-P` Python imports from the folder that it is started in
first: a `json.py` of the project would be run, with all that the child knows."""

_PLAIN = frozenset(
    (
        "HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "SystemRoot", "TERM", "TMPDIR",
        "TZ", "USER", "XDG_CONFIG_HOME",
    )
)  # fmt: skip
_DESKTOP = frozenset(
    (
        "COLORTERM", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
        "XDG_RUNTIME_DIR", "XDG_SESSION_TYPE",
    )
)  # fmt: skip
_MOST_LINKS = 40


def find_program(name: str, environ: Mapping[str, str], project: Path) -> str | None:
    """The absolute path of the first such program on PATH that is not the project's.

    A name that is an absolute path is that program; one with another slash in it is none.
    """
    top = _top(project)
    folders = _folders(environ, top) if "/" not in name else ["/"] if name.startswith("/") else []
    for folder in folders:
        candidate = os.path.join(folder, name)  # noqa: PTH118 - the name may be odd, and is a word
        is_program = os.path.isfile(candidate) and os.access(candidate, os.X_OK)  # noqa: PTH113
        if is_program and not _leads_through(candidate, top):
            return candidate
    return None


def plain_environment(
    environ: Mapping[str, str], project: Path, *, desktop: bool = False
) -> dict[str, str]:
    """What a program needs to know of the person's surroundings; no keys, no settings of others.

    `desktop` adds how the screen is reached. PATH is cut to the folders that `find_program` takes.
    """
    names = _PLAIN | _DESKTOP if desktop else _PLAIN
    passed_on = {k: v for k, v in environ.items() if k in names or k.startswith("LC_")}
    if "PATH" in passed_on:
        passed_on["PATH"] = os.pathsep.join(_folders(environ, _top(project)))
    return passed_on


def _folders(environ: Mapping[str, str], top: str) -> list[str]:
    parts = environ.get("PATH", "").split(os.pathsep)
    return [part for part in parts if part.startswith("/") and not _leads_through(part, top)]


def _top(project: Path) -> str:
    """The real folder of the repository that the project lies in, else its own.

    A home or a root under version control is no project: programs of the person's are in it.
    """
    own = Path(os.path.realpath(project))
    home = Path.home()
    for folder in (own, *own.parents):
        if folder in (home, Path("/")):
            break
        if os.path.lexists(folder / ".git"):
            return str(folder)
    return str(own)


def _leads_through(path: str, top: str) -> bool:
    """Whether the path, or one of the links on its way, lies in that folder."""
    if top == "/":
        return False
    for _ in range(_MOST_LINKS):
        folder, name = os.path.split(path)
        candidate = os.path.join(os.path.realpath(folder), name)  # noqa: PTH118
        if candidate == top or candidate.startswith(f"{top}/"):
            return True
        try:
            link = os.readlink(candidate)  # noqa: PTH115
        except OSError:
            return False  # the end of the chain: no link
        path = os.path.join(os.path.dirname(candidate), link)  # noqa: PTH118, PTH120
    return True
