"""The trash folder: a removed session with what belongs to it, until somebody brings it back.

Each removal is a folder of its own, `<time>_<session id>`: the session's file, its spools, and a
note of where it came from. Whatever stops a move, the session is whole in one place at least, and
nowhere is there a part of it under its own name: on another file system everything is copied whole
before any of it is named, and named before an original goes. What was done twice is seen by its
bytes, so a second try ends what a first one began. Emptying it is leftovers.py's, and asked for.
Read next: store.py.
"""

from __future__ import annotations

import filecmp
import re
import shutil
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from agentsh.errors import RefusedError, SessionNotSavedError
from agentsh.files import (
    copy_to_free_name,
    give_name,
    is_folder,
    is_link,
    is_regular,
    is_taken,
    is_there,
    private_folder,
    read_foreign,
    write_private,
)
from agentsh.jsontext import JsonError, JsonObject, dumps, loads_object
from agentsh.session.store.folders import SUFFIX
from agentsh.session.store.naming import is_id_word
from agentsh.session.store.summary import read_header

NOTE = "removed.json"
_MOST_NOTE = 1 << 16
_UNSAFE = re.compile(r"[^0-9TZ]")


class Removed(Struct, frozen=True):
    """A session in the trash. `origin` is where it lay, and None where the note of that is lost."""

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
        try:
            write_private(folder / NOTE, dumps(note) + b"\n")
            _move(session, folder / session.name)
        except BaseException:
            _take_back(folder, session)
            raise
    except OSError as e:
        raise SessionNotSavedError(f"{session} was not moved: {e}", path=str(session)) from e
    return Removed(header.id, header.cwd, folder, folder / session.name, session, now)


def removed(trash: Path) -> list[Removed]:
    """What is in the trash folder, the latest first."""
    listed = []
    try:
        folders = sorted((p for p in trash.iterdir() if is_folder(p)), reverse=True)
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
                listed.append(Removed(header.id, header.cwd, folder, file, origin, when))
    return listed


def restore_removed(one: Removed, target: Path) -> None:
    """Give a removed session its place again. Raises RefusedError where that is taken."""
    if is_taken(target) and (is_link(target) or not _is_same(one.file, target)):
        raise RefusedError(f"{target} exists already", path=str(target))
    try:
        private_folder(target.parent)
        _move(one.file, target)
    except OSError as e:
        raise SessionNotSavedError(f"{target} was not restored: {e}", path=str(target)) from e
    with suppress(OSError):  # the session is back; what is left here is trash
        (one.folder / NOTE).unlink(missing_ok=True)
        one.folder.rmdir()


def _note(folder: Path) -> tuple[Path | None, str]:
    try:
        note = loads_object(read_foreign(folder / NOTE, _MOST_NOTE, follow=False))
    except (OSError, JsonError):
        return None, ""
    origin, when = note.get("from"), note.get("at")
    return (
        Path(origin) if isinstance(origin, str) else None,
        when if isinstance(when, str) else "",
    )


def _move(session: Path, target: Path) -> None:
    """A session with its spools, to a name that is free or holds the same bytes. Raises OSError."""
    spools, there = spools_of(session), spools_of(target)
    if session.stat().st_dev == target.parent.stat().st_dev:
        # a folder's rename cannot be half done, and without its spools a session is still whole
        if is_folder(spools) and not is_there(there):
            spools.rename(there)
        if is_there(target):
            session.unlink()
        else:
            give_name(session, target)
        return
    if is_folder(spools) and not is_there(there):
        _copy_folder(spools, there)
    if not is_there(target):
        copy_to_free_name(session, target)
    session.unlink()
    shutil.rmtree(spools, ignore_errors=True)


def _copy_folder(source: Path, target: Path) -> None:
    """Whole or not there: it is copied under a name that no reader looks at."""
    draft = target.with_name(f".{target.name}.new")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        shutil.copytree(source, draft, symlinks=True)
        draft.rename(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _is_same(one: Path, other: Path) -> bool:
    """Whether two files hold the same bytes: a move that was cut short after the copy."""
    return is_regular(other) and filecmp.cmp(one, other, shallow=False)


def _take_back(folder: Path, session: Path) -> None:
    """Undo a removal that failed: the session is where it was, with its spools."""
    with suppress(OSError):
        spools = spools_of(folder / session.name)
        if is_folder(spools) and not is_there(spools_of(session)):
            spools.rename(spools_of(session))
        if is_there(session):  # else the trash has the only one
            shutil.rmtree(folder)
