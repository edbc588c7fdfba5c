"""Where things are, below the folders that roots.py finds in the environment.

Every folder that is made here is 0700 and every file 0600, from the first byte (`make_folder`,
`private_file`). Nothing is made before somebody writes: a `Places` is only names.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from agentsh.cli.roots import INDEX, find_roots
from agentsh.errors import UsageError


class Places(Struct, frozen=True):
    """Names of files and folders; they may not exist yet."""

    config: Path
    """The user's config folder: config.toml, AGENTS.md, the trusted folders."""
    data: Path
    """What must not be lost: sessions, checkpoints, models."""
    state: Path
    """What may be lost: logs, prompt history, index, outputs of commands."""
    sessions: Path
    flat: bool = False
    """Sessions lie in `sessions` itself, not in a folder per project."""

    @property
    def settings(self) -> Path:
        return self.config / "config.toml"

    @property
    def trusted(self) -> Path:
        return self.config / "trusted"

    @property
    def checkpoints(self) -> Path:
        return self.data / "checkpoints"

    @property
    def trash(self) -> Path:
        return self.data / "trash"

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    @property
    def outputs(self) -> Path:
        return self.state / "outputs"

    @property
    def history(self) -> Path:
        return self.state / "history"

    @property
    def drafts(self) -> Path:
        """What was being typed in chats that were killed."""
        return self.state / "drafts"

    @property
    def index(self) -> Path:
        return self.state / INDEX

    @property
    def learned(self) -> Path:
        """What endpoints taught (dialects, windows); may be lost."""
        return self.state / "learned.json"


def find_places(environ: Mapping[str, str], session_dir: str | None = None) -> Places:
    """The places of this user; `session_dir`, or its variable, replaces the sessions folder."""
    config, data, state, sessions = map(Path, find_roots(environ, session_dir))
    return Places(config, data, state, sessions)


def make_folder(folder: Path) -> Path:
    """Make a folder and its missing parents, each 0700. Raises UsageError where that cannot be."""
    missing = []
    at = folder
    while not at.exists() and at != at.parent:
        missing.append(at)
        at = at.parent
    try:
        for one in reversed(missing):
            one.mkdir(mode=0o700, exist_ok=True)
        if not folder.is_dir():
            raise NotADirectoryError(20, "Not a directory", str(folder))
    except OSError as e:
        raise UsageError(
            f"cannot make the folder {folder}: {e.strerror or e}",
            hint="AGENTSH_HOME names the folder for everything; it must be writable",
        ) from e
    return folder


def private_file(path: Path, data: bytes) -> None:
    """Write a file 0600, whole or not at all. Raises OSError."""
    make_folder(path.parent)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(handle, "wb") as f:
            f.write(data)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
