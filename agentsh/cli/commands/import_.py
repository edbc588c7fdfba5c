"""`agentsh import`: a session file of another program becomes a session of this folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from agentsh.cli.notices import warn
from agentsh.cli.output import print_json, print_lines
from agentsh.cli.parsing.options import Json, SessionDir
from agentsh.cli.parsing.words import Argument, Option
from agentsh.errors import SessionNotFoundError
from agentsh.sanitize import safe_line

if TYPE_CHECKING:
    from agentsh.session.exchange.importing import Arrival


def import_(
    file: Annotated[str, Argument(help="of Pi, oh-my-pi, Claude Code, Codex or agentsh")],
    dry_run: Annotated[bool, Option("--dry-run", help="only say what would come")] = False,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Bring another program's session here; its file is only read."""
    from agentsh.cli.lookup.finding import find_store
    from agentsh.files import from_home, is_regular
    from agentsh.session.exchange.importing import import_file

    source = from_home(file)
    if not is_regular(source):
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
                "joined": dict(arrival.joined),
                "dryRun": dry_run,
            }
        )
        return 0
    lines = _lines(arrival, dry_run=dry_run)
    if dry_run:
        print_lines(lines)
        return 0
    warn(lines)
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
    lines += [f"joined: {count} {safe_line(what)}" for what, count in arrival.joined.items()]
    lines += [f"left out: {count} {safe_line(what)}" for what, count in arrival.dropped.items()]
    return lines
