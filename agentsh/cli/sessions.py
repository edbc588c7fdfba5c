"""`agentsh sessions path` and `relink`: print a session's file; tie it to another folder.

The list is listing.py's; what removes or archives has modules of its own: trash.py, archive.py,
leftovers.py.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from agentsh.cli.finding import find_session, find_store


def path(session: str, *, session_dir: str | None) -> int:
    """Print the file of a session, exactly."""
    sys.stdout.buffer.write(os.fsencode(find_session(session, session_dir)) + b"\n")
    return 0


def relink(session: str, *, session_dir: str | None) -> int:
    """Tie a session to the folder one stands in."""
    find_store(session_dir).relink(find_session(session, session_dir), str(Path.cwd()))
    return 0
