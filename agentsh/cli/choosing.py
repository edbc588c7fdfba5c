"""Which session a turn goes on in: a new one, the last one, a named one, a fork, a point of it.

Everything that is wrong with the choice is said before anything is asked or sent. Read next:
session/store.py, wiring.py.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from agentsh.agent.moving import destination
from agentsh.cli.finding import ways_on
from agentsh.cli.notices import notice_line
from agentsh.cli.places import Places
from agentsh.errors import AgentshError, SessionNotFoundError, UsageError
from agentsh.jsontext import clean
from agentsh.session.entries import EntryId
from agentsh.session.fork import fork_session
from agentsh.session.session import Session, open_session
from agentsh.session.store import Store


class Choice(Struct, frozen=True):
    """What the options say: at most one of `last`, `session` and `fork`."""

    last: bool = False
    session: str | None = None
    fork: str | None = None
    at: str | None = None


class Chosen(Struct, frozen=True):
    """An open session, the folder its tools run in, and what to tell the person."""

    session: Session
    cwd: Path
    notices: tuple[str, ...] = ()
    resumed: bool = False


def find_store(places: Places) -> Store:
    return Store(places.sessions, flat=places.flat)


def choose(places: Places, cwd: Path, choice: Choice) -> Chosen:
    """Open what was chosen, for writing. Raises AgentshError."""
    named = [choice.last, choice.session is not None, choice.fork is not None]
    if sum(named) > 1:
        raise UsageError("-c, --session and --fork exclude each other")
    if choice.at is not None and not any(named[:2]):
        raise UsageError("--at needs -c or --session", hint="say which session it is in")
    store = find_store(places)
    if choice.fork is not None:
        return _forked(store, cwd, choice.fork)
    if choice.session is None and not choice.last:
        return Chosen(store.create(str(cwd)), cwd)
    return _continued(store, cwd, choice)


def _continued(store: Store, cwd: Path, choice: Choice) -> Chosen:
    path = (
        store.latest(str(cwd)) if choice.session is None else store.find(choice.session, str(cwd))
    )
    if path is None:
        raise SessionNotFoundError(
            f"there is no session of {cwd} to go on with", hint="`agentsh sessions --all` lists all"
        )
    chosen = opened(store, path, cwd)
    if choice.at is not None:
        target = chosen.session.resolve(choice.at)
        place = None if target is None else destination(chosen.session.entry(target))[0]
        if place != chosen.session.leaf:
            chosen.session.move(place, "tree")
    return chosen


def opened(store: Store, path: Path, cwd: Path) -> Chosen:
    """A session that exists, open for writing."""
    with ways_on(path):
        session = open_session(path, write=True)
    try:
        session.check_writable()
    except AgentshError:
        session.close()  # refused before anything is sent (exit 4), not in the turn
        raise
    notices = [notice_line(path, notice) for notice in session.notices]
    home, moved = _place(store, path, session, cwd)
    return Chosen(session, home, (*notices, *moved), resumed=True)


def _place(store: Store, path: Path, session: Session, cwd: Path) -> tuple[Path, tuple[str, ...]]:
    """The folder to work in, and what to say of it.

    A session of the user's own store names its folder. A file from anywhere else may have been
    written by anybody, and "inside the project folder" must not mean a folder that it chose.
    """
    home = Path(store.cwd_of(session.header.id, session.header.cwd))
    if str(home) == clean(str(cwd)):  # a header is UTF-8, a folder's name need not be
        return cwd, ()
    if not home.is_dir():
        return cwd, (f"the session's folder {home} is gone; going on in {cwd}",)
    if not store.owns(path):
        return cwd, (
            f"{path.name} is not from your sessions folder, so its folder {home} is not entered: "
            f"working in {cwd}",
        )
    return home, (f"working in the session's folder {home}",)


def _forked(store: Store, cwd: Path, word: str) -> Chosen:
    path, entry = _fork_point(store, cwd, word)
    with open_session(path, write=False) as parent:
        at: EntryId | None = parent.leaf if entry is None else parent.resolve(entry)
        child = fork_session(parent, at, store, cwd=None if store.owns(path) else str(cwd))
    return opened(store, child, cwd)


def _fork_point(store: Store, cwd: Path, word: str) -> tuple[Path, str | None]:
    """SESSION or SESSION:ENTRY; a session's path may hold a colon itself."""
    try:
        return store.find(word, str(cwd)), None
    except AgentshError:
        session, colon, entry = word.rpartition(":")
        if not colon:
            raise
        return store.find(session, str(cwd)), entry
