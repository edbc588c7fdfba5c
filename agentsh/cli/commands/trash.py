"""`sessions rm`, `trash`, `restore`: out of the list, and back. Nothing is deleted here."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Annotated

from agentsh.cli.notices import agrees
from agentsh.cli.output import print_json, print_lines
from agentsh.cli.parsing.options import Json, SessionDir, SessionWord, Yes
from agentsh.cli.parsing.words import Argument
from agentsh.errors import (
    AmbiguousSessionError,
    RefusedError,
    SessionLockedError,
    SessionNotFoundError,
    UsageError,
)
from agentsh.sanitize import safe_line

if TYPE_CHECKING:
    from agentsh.jsontext import JsonObject
    from agentsh.session.store import trash as bin_


def agreed(question: str, command: str) -> bool:
    """Ask on a terminal. Raises UsageError where there is none."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"without a terminal to ask on, `{command}` needs --yes")
    return agrees(question, sys.stderr, sys.stdin)


def rm(session: SessionWord, yes: Yes = False, session_dir: SessionDir = None) -> int:
    """Put a session in the trash folder; `restore` brings it back."""
    from agentsh.cli.lookup.finding import find_session, find_store
    from agentsh.cli.setup.paths import find_places, make_folder
    from agentsh.session.file.lock import live_holder
    from agentsh.session.format.times import iso_time
    from agentsh.session.store import trash as bin_
    from agentsh.session.store.naming import command_hint

    file = find_session(session, session_dir)
    if not find_store(session_dir).owns(file):
        raise RefusedError(f"{file} is not in the sessions folder", path=str(file))
    if (holder := live_holder(str(file))) is not None:
        raise SessionLockedError(f"{file} is being written", path=str(file), holder=str(holder))
    if not yes and not agreed(f"Move {safe_line(str(file))} into the trash folder?", "sessions rm"):
        return 0
    trash = make_folder(find_places(os.environ, session_dir).trash)
    done = bin_.remove(file, trash, now=iso_time(time()))
    back = command_hint("sessions restore", find_store(session_dir).words(done.id, None))
    print_lines([f"moved to {safe_line(str(done.file))}; `{back}`"])
    return 0


def trash(json: Json = False, session_dir: SessionDir = None) -> int:
    """List what is in the trash folder."""
    from agentsh.cli.setup.paths import find_places
    from agentsh.session.format.times import local_minute
    from agentsh.session.store import trash as bin_

    listed = bin_.removed(find_places(os.environ, session_dir).trash)
    if json:
        print_json([_as_json(one) for one in listed])
        return 0
    print_lines(safe_line(f"{one.id}  {local_minute(one.when)}  {one.cwd}") for one in listed)
    return 0


def restore(
    session: Annotated[str, Argument(help="id or unique prefix, as `trash` lists it")],
    session_dir: SessionDir = None,
) -> int:
    """Bring a session back from the trash folder."""
    from agentsh.cli.lookup.finding import find_store
    from agentsh.cli.setup.paths import find_places
    from agentsh.session.store import trash as bin_

    store = find_store(session_dir)
    one = _find(bin_.removed(find_places(os.environ, session_dir).trash), session)
    target = one.origin
    # the note is a file like any other: what it names must lie in the store
    if target is None or not store.owns(target) or target.suffix != ".jsonl":
        target = store.folder(one.cwd) / one.file.name
    bin_.restore_removed(one, target)
    print_lines([safe_line(str(target))])
    return 0


def _find(listed: list[bin_.Removed], word: str) -> bin_.Removed:
    named = [one for one in listed if one.id == word] or [
        one for one in listed if word and one.id.startswith(word)
    ]
    if not named:
        raise SessionNotFoundError(
            f"no session in the trash matches {word[:80]!r}", hint="`agentsh sessions trash`"
        )
    ids = tuple(one.id for one in named)
    if len(set(ids)) > 1:
        raise AmbiguousSessionError(f"{word!r} matches {', '.join(ids[:5])}", matches=ids)
    return named[0]  # of several with one id the one that was removed last


def _as_json(one: bin_.Removed) -> JsonObject:
    origin: Path | None = one.origin
    return {
        "id": one.id,
        "cwd": one.cwd,
        "path": str(one.file),
        "from": None if origin is None else str(origin),
        "removed": one.when,
    }
