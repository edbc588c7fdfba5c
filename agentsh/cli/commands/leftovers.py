"""`sessions gc`: list what lies about without use, and delete it where that was asked for."""

from __future__ import annotations

import os
from time import time
from typing import TYPE_CHECKING, Annotated

from agentsh.cli.output import print_json, print_lines
from agentsh.cli.parsing.options import Json, SessionDir, Yes
from agentsh.cli.parsing.words import Option
from agentsh.sanitize import safe_line

if TYPE_CHECKING:
    from agentsh.jsontext import JsonObject
    from agentsh.session.store.leftovers import Leftover


_DAY = 24 * 3600.0


def gc(
    dry_run: Annotated[bool, Option("--dry-run", help="only list it")] = False,
    trash_days: Annotated[
        int,
        Option("--trash-days", least=0, metavar="DAYS", help="how old trash may become"),
    ] = 30,
    yes: Yes = False,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Delete leftovers and old trash, never a session; asks first."""
    from agentsh.cli.commands.trash import agreed
    from agentsh.cli.setup.paths import find_places
    from agentsh.session.store.leftovers import delete, leftovers

    places = find_places(os.environ, session_dir)
    unneeded = leftovers(places.sessions, places.trash, now=time(), trash_seconds=trash_days * _DAY)
    if not dry_run and unneeded:
        if not json:
            print_lines(_line(one) for one in unneeded)
        if not yes and not agreed(f"Delete these {len(unneeded)} for good?", "sessions gc"):
            return 0
        unneeded = list(delete(unneeded))
    if json:
        print_json({"deleted": not dry_run, "found": [_as_json(one) for one in unneeded]})
    elif dry_run:
        print_lines(_line(one) for one in unneeded)
    total = sum(one.bytes for one in unneeded)
    verb = "would be deleted" if dry_run else "deleted"
    if not json:
        print_lines([f"{len(unneeded)} {verb}, {total} bytes"])
    return 0


def _line(one: Leftover) -> str:
    return f"{one.bytes:>10}  {one.kind}: {safe_line(str(one.path))}"


def _as_json(one: Leftover) -> JsonObject:
    return {"path": str(one.path), "kind": one.kind, "bytes": one.bytes}
