"""`agentsh label` and `agentsh rename`: names for entries and sessions; the place stays."""

from __future__ import annotations

from agentsh.cli.finding import change
from agentsh.errors import EntryNotFoundError


def label(session: str, entry: str, name: str | None, *, session_dir: str | None) -> int:
    """Name an entry; without a name, clear it."""
    with change(session, session_dir) as opened:
        target = opened.resolve(entry)
        if target is None:
            raise EntryNotFoundError(f"{entry}: before the first message there is nothing to name")
        opened.label(target, name or None)
    return 0


def rename(session: str, name: str, *, session_dir: str | None) -> int:
    """Name a session."""
    with change(session, session_dir) as opened:
        opened.rename(name)
    return 0
