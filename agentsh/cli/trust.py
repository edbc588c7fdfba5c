"""A project's own settings and .env: not used before its folder is trusted.

A folder is trusted for one run (`--trust`), or for good once a person said so on a terminal; the
answer is kept in the user's config folder, whichever it was. Context files need no trust
(cli/contextfiles.py). This module reads files and asks nobody: the asking is handed in.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from agentsh.cli.places import Places, private_file
from agentsh.errors import SettingsError

MOST_BYTES = 1 << 20


class ProjectFiles(Struct, frozen=True):
    """What a project brings along. `settings` and `dotenv` are only names here."""

    root: Path
    settings: tuple[Path, ...]
    dotenv: tuple[Path, ...]

    @property
    def all(self) -> tuple[Path, ...]:
        return self.settings + self.dotenv


def project_root(cwd: Path) -> Path:
    """The repository that holds this folder, else the folder itself."""
    return next((at for at in (cwd, *cwd.parents) if (at / ".git").exists()), cwd)


def find_project_files(cwd: Path, places: Places) -> ProjectFiles:
    """The project's settings and .env files that exist: the root's, then those of `cwd`."""
    root = project_root(cwd)
    folders = dict.fromkeys((root, cwd))
    own = places.settings  # AGENTSH_HOME may be the project's .agentsh folder
    return ProjectFiles(
        root,
        tuple(p for at in folders if (p := at / ".agentsh" / "config.toml").exists() and p != own),
        tuple(p for at in folders if (p := at / ".env").exists()),
    )


def is_trusted(
    project: ProjectFiles, places: Places, *, once: bool, ask: Callable[[str], bool] | None = None
) -> bool:
    """Whether the project's files count. With `ask` (a terminal) the answer is kept."""
    if once or not project.all:
        return once
    root = str(project.root)
    known = _answers(places.trusted)
    if root in known:
        return known[root]
    if ask is None:
        return False
    named = ", ".join(str(p.relative_to(project.root)) for p in project.all)
    answer = ask(f"Use this project's own {named} in {root}?")
    if "\n" not in root:
        lines = [f"{'+' if yes else '-'} {path}\n" for path, yes in {**known, root: answer}.items()]
        private_file(places.trusted, "".join(lines).encode("utf-8", "surrogateescape"))
    return answer


def read_text(path: Path) -> str:
    """The text of a settings file. Raises SettingsError: not regular, too large, no UTF-8."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as f:
            if not stat.S_ISREG(os.fstat(f.fileno()).st_mode):
                raise SettingsError("not a regular file", file=str(path))
            data = f.read(MOST_BYTES + 1)
    except OSError as e:
        raise SettingsError(f"cannot be read: {e.strerror}", file=str(path)) from e
    if len(data) > MOST_BYTES:
        raise SettingsError("larger than 1 MiB", file=str(path))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise SettingsError("not UTF-8", file=str(path), line=line) from e


def parse_dotenv(text: str) -> Mapping[str, str]:
    """NAME=value lines; quotes round a value are taken off, nothing is expanded."""
    found = {}
    for line in text.split("\n"):
        if match := re.match(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$", line):
            name, value = match[1], match[2]
            if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
                value = value[1:-1]
            else:
                value = re.sub(r"\s+#.*$", "", value)
            found[name] = value
    return found


def _answers(file: Path) -> dict[str, bool]:
    """path → trusted or not; what cannot be read counts as no answer."""
    try:
        text = file.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return {}
    return {line[2:]: line[0] == "+" for line in text.split("\n") if line[:2] in ("+ ", "- ")}
