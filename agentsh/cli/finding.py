"""SESSION and ENTRY words → what they mean, for the commands that need no model.

No settings are read here and no trust is asked for: looking at a session needs neither.
What a reader found and read around goes to stderr, one line each.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentsh.cli.notices import notice_line, warn
from agentsh.cli.places import find_places
from agentsh.errors import SessionLockedError, SessionNotFoundError
from agentsh.session.naming import id_in_name, is_id_word
from agentsh.session.session import Session, open_session
from agentsh.session.store import Store


def find_store(session_dir: str | None) -> Store:
    """The sessions of this user, without the index: only lists of many are quicker with it."""
    places = find_places(os.environ, session_dir)
    return Store(places.sessions, flat=places.flat)


def find_session(word: str | None, session_dir: str | None) -> Path:
    """The file that a SESSION word means; None means `last`. Raises SessionError."""
    cwd = str(Path.cwd())
    store = find_store(session_dir)
    if word is not None and word != "last":
        return _found(store, word, cwd)
    path = store.latest(cwd)
    if path is None:
        raise SessionNotFoundError(
            f"there is no session of {cwd}", hint="`agentsh sessions --all` lists those of all"
        )
    return path


def _found(store: Store, word: str, cwd: str) -> Path:
    """As Store.find; one that was archived is named."""
    try:
        return store.find(word, cwd)
    except SessionNotFoundError as e:
        is_archived = is_id_word(word) and any(
            (id_in_name(path.name.removesuffix(".zst")) or "").startswith(word)
            for folder in (store.root, *store.folders())
            for path in folder.glob("*.jsonl.zst")
        )
        if is_archived:
            raise SessionNotFoundError(
                f"the session {word} is archived", hint=f"`agentsh sessions unarchive {word}`"
            ) from e
        raise


def look_at(word: str | None, session_dir: str | None) -> Session:
    """Open it without a lock and without a write; say what is wrong with it."""
    return _opened(find_session(word, session_dir), write=False)


def change(word: str | None, session_dir: str | None) -> Session:
    """Open it as its one writer. Raises SessionLockedError, UnsupportedVersionError."""
    return _opened(find_session(word, session_dir), write=True)


def _opened(path: Path, *, write: bool) -> Session:
    with ways_on(path):
        session = open_session(path, write=write)
    warn(notice_line(path, notice) for notice in session.notices)
    return session


@contextmanager
def ways_on(path: Path) -> Iterator[None]:
    """Where another process writes this session, the hint names commands that can be pasted."""
    try:
        yield
    except SessionLockedError as e:
        name = shlex.quote(id_in_name(path.name) or str(path))
        raise SessionLockedError(
            e.message,
            path=str(path),
            holder=e.holder,
            hint=f"`agentsh show {name} --follow` watches it, `agentsh fork {name}` goes on in a"
            " copy",
        ) from e
