"""Where everything begins: four folders by their names, out of the environment. Loads no pathlib.

AGENTSH_HOME is one folder for everything; without it they are the platform's usual ones.
platformdirs is imported only there. What lies where below them is places.py's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

Roots = tuple[str, str, str, str]
"""config, data, state, sessions."""
INDEX = "index.sqlite"
"""Its name in the state folder."""


def find_roots(environ: Mapping[str, str], session_dir: str | None = None) -> Roots:
    """Those of this user; `session_dir`, or its variable, replaces the sessions folder.

    Raises RuntimeError for the home of a user that is not known.
    """
    named = session_dir or environ.get("AGENTSH_SESSION_DIR")
    sessions = _absolute(named) if named else None
    home = environ.get("AGENTSH_HOME")
    if home:
        root = _absolute(home)
        return root, root, root, sessions or os.path.join(root, "sessions")  # noqa: PTH118
    from pathlib import Path

    import platformdirs

    config = Path(platformdirs.user_config_dir("agentsh", appauthor=False))
    data = Path(platformdirs.user_data_dir("agentsh", appauthor=False))
    state = Path(platformdirs.user_state_dir("agentsh", appauthor=False))
    return str(config), str(data), str(state), sessions or str(data / "sessions")


def _absolute(name: str) -> str:
    """Links stay as they are."""
    if name.startswith("~"):
        from pathlib import Path

        name = str(Path(name).expanduser())
    return os.path.abspath(name)  # noqa: PTH100
