"""Where everything is: four folders out of the environment, and what lies where below them.

AGENTSH_HOME is one folder for everything; without it they are the platform's usual ones.
Every folder that is made here is 0700 (`make_folder`). Nothing is made before somebody writes: a
`Paths` is only names. Read next: agentsh/files.py, which writes private files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from agentsh.errors import UsageError
from agentsh.files import from_home, private_folder


class Paths(Struct, frozen=True):
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
    session_dir: str | None = None
    """The option that named `sessions`."""

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
    def grants(self) -> Path:
        """Which rules were agreed to here, by session."""
        return self.data / "grants"

    @property
    def trash(self) -> Path:
        return self.data / "trash"

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    @property
    def server_lists(self) -> Path:
        """What MCP servers offered when they were last asked."""
        return self.state / "mcp"

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
        return self.state / "index.sqlite"

    @property
    def skills(self) -> Path:
        """What heads of skills and templates said; may be lost."""
        return self.state / "skills.json"

    @property
    def learned(self) -> Path:
        """What endpoints taught (dialects, windows); may be lost."""
        return self.state / "learned.json"


def find_places(environ: Mapping[str, str], session_dir: str | None = None) -> Paths:
    """The places of this user; `session_dir`, or its variable, replaces the sessions folder.

    Raises RuntimeError for the home of a user that is not known.
    """
    named = session_dir or environ.get("AGENTSH_SESSION_DIR")
    sessions = _absolute(named) if named else None
    home = environ.get("AGENTSH_HOME")
    if home:
        config = data = state = _absolute(home)
    else:
        import platformdirs  # where AGENTSH_HOME is set, nobody needs it

        config = Path(platformdirs.user_config_dir("agentsh", appauthor=False))
        data = Path(platformdirs.user_data_dir("agentsh", appauthor=False))
        state = Path(platformdirs.user_state_dir("agentsh", appauthor=False))
    return Paths(config, data, state, sessions or data / "sessions", session_dir=session_dir)


def _absolute(name: str) -> Path:
    """Links stay as they are."""
    return Path(os.path.abspath(from_home(name)))  # noqa: PTH100


def make_folder(folder: Path) -> Path:
    """Make a folder and its missing parents, each 0700. Raises UsageError where that cannot be."""
    try:
        return private_folder(folder)
    except OSError as e:
        raise UsageError(
            f"cannot make the folder {folder}: {e.strerror or e}",
            hint="AGENTSH_HOME names the folder for everything; it must be writable",
        ) from e
