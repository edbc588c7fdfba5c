"""SESSION and ENTRY words → what they mean, for the commands that need no model.

No settings are read here and no trust is asked for: looking at a session needs neither.
What a reader found and read around goes to stderr, one line each.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentsh.cli.notices import notice_of, warn
from agentsh.cli.setup.paths import Paths, find_places
from agentsh.errors import EntryNotFoundError, SessionLockedError, SessionNotFoundError
from agentsh.files import is_folder, is_regular
from agentsh.session.file.resolve import last_said
from agentsh.session.file.session import Session, open_session
from agentsh.session.format.entries import EntryId
from agentsh.session.store.folders import EXPLORATION_LOG, EXPLORE
from agentsh.session.store.naming import command_hint, id_in_name, is_id_word
from agentsh.session.store.store import Store


def find_store(session_dir: str | None) -> Store:
    """The sessions of this user, without the index: only lists of many are quicker with it."""
    return store_of(find_places(os.environ, session_dir))


def store_of(places: Paths) -> Store:
    """The sessions of these places."""
    return Store(places.sessions, flat=places.flat, named=places.session_dir)


def find_session(word: str | None, session_dir: str | None) -> Path:
    """The file that a SESSION word means; None means `last`. Raises SessionError."""
    cwd = str(Path.cwd())
    store = find_store(session_dir)
    if word is not None and word != "last":
        return find_named(store, word, cwd)
    path = store.latest(cwd)
    if path is None:
        raise SessionNotFoundError(
            f"there is no session of {cwd}", hint="`agentsh sessions --all` lists those of all"
        )
    return path


def has_explorations(session: Path | None) -> bool:
    """Whether any exploration began in the project of that file: one look, and nothing is read."""
    return session is not None and is_folder(session.parent / EXPLORE)


def find_named(store: Store, word: str, cwd: str) -> Path:
    """As Store.find; one that was archived is named, and a file of another kind as what it is."""
    try:
        return store.find(word, cwd)
    except SessionNotFoundError as e:
        if is_archived(store, word):
            raise SessionNotFoundError(
                f"the session {word} is archived",
                hint=f"`{command_hint('sessions unarchive', store.words(word, None))}`",
            ) from e
        if e.path is not None and is_regular(e.path):
            from agentsh.filekinds import foreign_kind_of_file

            if kind := foreign_kind_of_file(Path(e.path)):
                hint = "`agentsh import FILE` brings in what is in it"
                raise SessionNotFoundError(
                    f"{e.message}, but {kind}",
                    path=e.path,
                    hint=hint if "compressed" in kind else None,
                ) from e
        raise


def is_branch(path: Path) -> bool:
    """Whether that session is a branch's of an exploration: its folder says so."""
    folder = path.parent
    return folder.parent.name == EXPLORE and is_regular(folder / EXPLORATION_LOG)


def is_archived(store: Store, word: str) -> bool:
    """Whether a session whose id begins so lies in an archive."""
    from agentsh.session.store.archive import archives

    return is_id_word(word) and any(
        (id_in_name(path.name.removesuffix(".zst")) or "").startswith(word)
        for path in archives((store.root, *store.folders()))
    )


def said_entry(session: Session, word: str) -> EntryId:
    """The entry that an ENTRY word names to be named, hidden or kept; `leaf` is what was said last.

    Raises EntryNotFoundError.
    """
    entry = last_said(session.live().entries) if word == "leaf" else session.resolve(word)
    if entry is None:
        raise EntryNotFoundError(f"{word}: there is nothing before the first message")
    return entry


def look_at(word: str | None, session_dir: str | None) -> Session:
    """Open it without a lock and without a write; say what is wrong with it."""
    return _opened(find_session(word, session_dir), find_store(session_dir), write=False)


def change(word: str | None, session_dir: str | None) -> Session:
    """Open it as its one writer. Raises SessionLockedError, UnsupportedVersionError."""
    return _opened(find_session(word, session_dir), find_store(session_dir), write=True)


def _opened(path: Path, store: Store, *, write: bool) -> Session:
    with ways_on(path, store):
        session = open_session(path, write=write)
    warn(notice_of(path, notice) for notice in session.notices)
    return session


@contextmanager
def ways_on(path: Path, store: Store) -> Iterator[None]:
    """Where another process writes this session, the hint names commands that can be pasted."""
    try:
        yield
    except SessionLockedError as e:
        name = id_in_name(path.name)
        words = (str(path.absolute()),) if name is None else store.words(name, path)
        watch = command_hint("show", words, "--follow")
        raise SessionLockedError(
            e.message,
            path=str(path),
            holder=e.holder,
            hint=f"`{watch}` watches it\n`{command_hint('fork', words)}` goes on in a copy",
        ) from e
