"""`sessions rm`, `trash`, `restore`: out of the list, and back. Nothing is deleted here."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import time

from agentsh.cli.finding import find_session, find_store
from agentsh.cli.output import print_json, print_lines
from agentsh.cli.places import find_places, make_folder
from agentsh.errors import (
    AmbiguousSessionError,
    RefusedError,
    SessionLockedError,
    SessionNotFoundError,
    UsageError,
)
from agentsh.jsontext import JsonObject
from agentsh.session import trash as bin_
from agentsh.session.lock import live_holder
from agentsh.session.times import iso_time
from agentsh.ui.sanitize import safe_line


def agreed(question: str, command: str) -> bool:
    """Ask on a terminal. Raises UsageError where there is none."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"without a terminal to ask on, `{command}` needs --yes")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def remove(session: str, *, yes: bool, session_dir: str | None) -> int:
    """Move a session into the trash folder, after a question."""
    file = find_session(session, session_dir)
    if not find_store(session_dir).owns(file):
        raise RefusedError(f"{file} is not in the sessions folder", path=str(file))
    if (holder := live_holder(str(file))) is not None:
        raise SessionLockedError(f"{file} is being written", path=str(file), holder=str(holder))
    if not yes and not agreed(f"Move {safe_line(str(file))} into the trash folder?", "sessions rm"):
        return 0
    trash = make_folder(find_places(os.environ, session_dir).trash)
    done = bin_.remove(file, trash, now=iso_time(time()))
    print_lines([safe_line(f"moved to {done.file}; `agentsh sessions restore {done.id}`")])
    return 0


def trashed(*, json: bool, session_dir: str | None) -> int:
    """List it, the latest first."""
    found = bin_.removed(find_places(os.environ, session_dir).trash)
    if json:
        print_json([_as_json(one) for one in found])
        return 0
    print_lines(
        safe_line(f"{one.id}  {one.when[:16].replace('T', ' ')}  {one.cwd}") for one in found
    )
    return 0


def restore(session: str, *, session_dir: str | None) -> int:
    """Bring one back to where it was, and print its file."""
    store = find_store(session_dir)
    one = _find(bin_.removed(find_places(os.environ, session_dir).trash), session)
    target = one.origin
    # the note is a file like any other: what it names must lie in the store
    if target is None or not store.owns(target) or target.suffix != ".jsonl":
        target = store.folder(one.cwd) / one.file.name
    bin_.restore(one, target)
    print_lines([safe_line(str(target))])
    return 0


def _find(found: list[bin_.Removed], word: str) -> bin_.Removed:
    named = [one for one in found if one.id == word] or [
        one for one in found if word and one.id.startswith(word)
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
