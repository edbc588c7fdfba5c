"""`sessions gc`: list what lies about without use, and delete it where that was asked for."""

from __future__ import annotations

import os
from time import time

from agentsh.cli.output import print_json, print_lines
from agentsh.cli.places import find_places
from agentsh.cli.trash import agreed
from agentsh.jsontext import JsonObject
from agentsh.session.leftovers import Leftover, delete, leftovers
from agentsh.ui.sanitize import safe_line

_DAY = 24 * 3600.0


def collect(
    *, dry_run: bool, trash_days: int, yes: bool, json: bool, session_dir: str | None
) -> int:
    """Say what there is; delete it only without --dry-run, and only after a yes."""
    places = find_places(os.environ, session_dir)
    found = leftovers(places.sessions, places.trash, now=time(), trash_seconds=trash_days * _DAY)
    if not dry_run and found:
        if not json:
            print_lines(_line(one) for one in found)
        if not yes and not agreed(f"Delete these {len(found)} for good?", "sessions gc"):
            return 0
        found = list(delete(found))
    if json:
        print_json({"deleted": not dry_run, "found": [_as_json(one) for one in found]})
    elif dry_run:
        print_lines(_line(one) for one in found)
    total = sum(one.bytes for one in found)
    verb = "would be deleted" if dry_run else "deleted"
    if not json:
        print_lines([f"{len(found)} {verb}, {total} bytes"])
    return 0


def _line(one: Leftover) -> str:
    return f"{one.bytes:>10}  {one.kind}: {safe_line(str(one.path))}"


def _as_json(one: Leftover) -> JsonObject:
    return {"path": str(one.path), "kind": one.kind, "bytes": one.bytes}
