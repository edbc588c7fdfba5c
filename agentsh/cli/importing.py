"""`agentsh import`: a session file of another program becomes a session of this folder."""

from __future__ import annotations

from pathlib import Path

from agentsh.cli.finding import find_store
from agentsh.cli.notices import warn
from agentsh.cli.output import print_json, print_lines
from agentsh.errors import SessionNotFoundError
from agentsh.session.importing import Arrival, import_file
from agentsh.ui.sanitize import safe_line


def bring(file: str, *, dry_run: bool, json: bool, session_dir: str | None) -> int:
    """Import it, or say what would come; print the new session's id."""
    source = Path(file).expanduser()
    if not source.is_file():
        raise SessionNotFoundError(f"no such file: {file[:200]}", path=file)
    arrival = import_file(source, find_store(session_dir), str(Path.cwd()), dry_run=dry_run)
    if json:
        print_json(
            {
                "session": arrival.session,
                "path": None if arrival.path is None else str(arrival.path),
                "format": arrival.format,
                "source": {"id": arrival.source_id, "cwd": arrival.source_cwd},
                "title": arrival.title,
                "entries": arrival.entries,
                "messages": arrival.messages,
                "branches": arrival.branches,
                "dropped": dict(arrival.dropped),
                "dryRun": dry_run,
            }
        )
        return 0
    words = _lines(arrival, dry_run=dry_run)
    if dry_run:
        print_lines(words)
        return 0
    warn(words)
    print_lines([safe_line(arrival.session or "")])
    return 0


def _lines(arrival: Arrival, *, dry_run: bool) -> list[str]:
    title = f" “{safe_line(arrival.title, 80)}”" if arrival.title else ""
    where = f" of {safe_line(arrival.source_cwd)}" if arrival.source_cwd else ""
    verb = "would bring" if dry_run else "brought"
    branches = "1 branch" if arrival.branches == 1 else f"{arrival.branches} branches"
    lines = [
        f"{verb} a session of {arrival.format}{title}{where}: {arrival.entries} entries, "
        f"{arrival.messages} messages, {branches}"
    ]
    lines += [f"left out: {count} {safe_line(what)}" for what, count in arrival.dropped.items()]
    return lines
