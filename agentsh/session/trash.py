"""The trash folder: a removed session with what belongs to it, until somebody brings it back.

Each removal is a folder of its own, `<time>_<session id>`: the session's file, its spools, and a
note of where it came from. Files are moved, never copied over another, so the session keeps its
bytes; on another file system they are copied whole before the original goes. Emptying it is
leftovers.py's, and asked for. Read next: store.py.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from msgspec import Struct

from agentsh.errors import RefusedError, SessionNotSavedError
from agentsh.jsontext import JsonError, JsonObject, dumps, loads_object
from agentsh.session.folders import SUFFIX
from agentsh.session.listing import read_header
from agentsh.session.naming import is_id_word

NOTE = "removed.json"
_UNSAFE = re.compile(r"[^0-9TZ]")


class Removed(Struct, frozen=True):
    """`file`: the session in the trash; `origin`: where it lay, None where the note is lost."""

    id: str
    cwd: str
    folder: Path
    file: Path
    origin: Path | None
    when: str


def spools_of(session: Path) -> Path:
    """Where a session's spools lie, if it has any."""
    return session.with_name(session.name.removesuffix(SUFFIX) + ".d")


def remove(session: Path, trash: Path, *, now: str) -> Removed:
    """Move a session into the trash folder. Raises SessionNotSavedError."""
    header = read_header(session)
    if header is None:
        raise RefusedError(f"{session} is no session", path=str(session))
    # an id from a file is no name of a folder (X05)
    name = header.id if is_id_word(header.id) else "session"
    folder = trash / f"{_UNSAFE.sub('-', now)}_{name}"
    note: JsonObject = {"id": header.id, "from": str(session.absolute()), "at": now}
    try:
        folder.mkdir(mode=0o700)
        (folder / NOTE).touch(mode=0o600)
        (folder / NOTE).write_bytes(dumps(note) + b"\n")
        spools = spools_of(session)
        _move(session, folder / session.name)
        if spools.is_dir():
            _move(spools, folder / spools.name)
    except OSError as e:
        raise SessionNotSavedError(f"{session} was not moved: {e}", path=str(session)) from e
    return Removed(header.id, header.cwd, folder, folder / session.name, session, now)


def removed(trash: Path) -> list[Removed]:
    """What is in the trash folder, the latest first."""
    found = []
    try:
        folders = sorted((p for p in trash.iterdir() if p.is_dir()), reverse=True)
    except OSError:
        return []
    for folder in folders:
        for file in sorted(folder.glob(f"*{SUFFIX}")):
            try:
                header = read_header(file)
            except OSError:
                continue
            if header is not None:
                origin, when = _note(folder)
                found.append(Removed(header.id, header.cwd, folder, file, origin, when))
    return found


def restore(one: Removed, target: Path) -> None:
    """Give a removed session its place again. Raises RefusedError where that is taken."""
    if target.exists() or target.is_symlink():
        raise RefusedError(f"{target} exists already", path=str(target))
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        spools = spools_of(one.file)
        if spools.is_dir() and not spools_of(target).exists():
            _move(spools, spools_of(target))
        _move(one.file, target)
        (one.folder / NOTE).unlink(missing_ok=True)
        one.folder.rmdir()
    except OSError as e:
        raise SessionNotSavedError(f"{target} was not restored: {e}", path=str(target)) from e


def _note(folder: Path) -> tuple[Path | None, str]:
    try:
        note = loads_object((folder / NOTE).read_bytes())
    except (OSError, JsonError):
        return None, ""
    origin, when = note.get("from"), note.get("at")
    return (
        Path(origin) if isinstance(origin, str) else None,
        when if isinstance(when, str) else "",
    )


def _move(source: Path, target: Path) -> None:
    """Under a name that is free, also to another file system."""
    if target.exists():
        raise FileExistsError(17, "exists already", str(target))
    if source.stat().st_dev == target.parent.stat().st_dev:
        source.rename(target)
    else:
        shutil.move(source, target)
