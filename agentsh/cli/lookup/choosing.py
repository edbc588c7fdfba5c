"""Which session a turn goes on in: a new one, the last one, a named one, a fork, a point of it.

Everything that is wrong with the choice is said before anything is asked or sent. Read next:
session/store/store.py, wiring.py.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from agentsh.cli.lookup.finding import find_named, is_branch, store_of, ways_on
from agentsh.cli.notices import notice_of
from agentsh.cli.setup.configuration import IN_BRANCH
from agentsh.cli.setup.paths import Paths
from agentsh.errors import AgentshError, ExplorationError, SessionNotFoundError, UsageError
from agentsh.files import is_folder, is_there
from agentsh.jsontext import clean
from agentsh.session.file.session import Session, open_session
from agentsh.session.format.entries import EntryId
from agentsh.session.format.facts import RequestSent
from agentsh.session.store.naming import command_hint
from agentsh.session.store.store import Store


class StartAt(Struct, frozen=True):
    """What the options say: at most one of `last`, `session` and `fork`."""

    last: bool = False
    session: str | None = None
    fork: str | None = None
    at: str | None = None


class Chosen(Struct, frozen=True):
    """An open session, the folder its tools run in, and what to tell the person.

    `moved`: a move that waits for what is to be done there; refused, nothing has moved. `asked`: a
    request that was made from there, which is to be made again.
    """

    session: Session
    cwd: Path
    notices: tuple[str, ...] = ()
    resumed: bool = False
    moved: EntryId | None = None
    asked: RequestSent | None = None

    def standing_at(self, leaf: EntryId | None, asked: RequestSent | None = None) -> Chosen:
        """The same at that place, once something is done there."""
        moved = self.session.move(leaf, "tree", durably=False)
        return replace(self, moved=moved.id, asked=asked)

    def keep_move(self) -> None:
        """It is durable from now on."""
        if self.moved is not None:
            self.session.barrier()

    def let_go(self) -> None:
        """Close it; a move that nothing came of is dropped."""
        self.drop_move()
        self.session.close()

    def drop_move(self) -> None:
        """Nothing was done there: the leaf is where it was."""
        if self.moved is not None and self.session.leaf == self.moved:
            self.session.withdraw(self.moved)


def open_chosen(places: Paths, cwd: Path, choice: StartAt) -> Chosen:
    """Open what was chosen, for writing. Raises AgentshError."""
    named = [choice.last, choice.session is not None, choice.fork is not None]
    if sum(named) > 1:
        raise UsageError("-c, --session and --fork exclude each other")
    if choice.at is not None and not any(named[:2]):
        raise UsageError("--at needs -c or --session", hint="say which session it is in")
    store = store_of(places)
    if choice.fork is not None:
        return _forked(places, store, cwd, choice.fork)
    if choice.session is None and not choice.last:
        return Chosen(store.create(str(cwd)), cwd)
    return _continued(places, cwd, choice)


def _continued(places: Paths, cwd: Path, choice: StartAt) -> Chosen:
    store = store_of(places)
    path = (
        store.latest(str(cwd))
        if choice.session is None
        else find_named(store, choice.session, str(cwd))
    )
    if path is None:
        raise SessionNotFoundError(
            f"there is no session of {cwd} to go on with", hint="`agentsh sessions --all` lists all"
        )
    if is_branch(path) and os.environ.get(IN_BRANCH) != str(path):
        raise ExplorationError(
            f"{path.name} is the session of a branch, whose files are in a workspace of its own",
            hint="`agentsh resume` goes on with it there, `agentsh explore pick` brings it here",
        )
    chosen = opened(places, path, cwd)
    if choice.at is not None:
        from agentsh.agent.moving import destination

        target = chosen.session.resolve(choice.at)
        leaf = None if target is None else destination(chosen.session.entry(target))[0]
        if leaf != chosen.session.leaf:
            chosen = chosen.standing_at(leaf)
    return chosen


def opened(places: Paths, path: Path, cwd: Path) -> Chosen:
    """A session that exists, open for writing."""
    store = store_of(places)
    with ways_on(path, store):
        session = open_session(path, write=True)
    try:
        session.check_writable()
    except AgentshError:
        session.close()  # refused before anything is sent (exit 4), not in the turn
        raise
    notices = [notice_of(path, notice) for notice in session.notices]
    notices += _signs(session, path, places, told=bool(notices))
    home, moved = _place(store, path, session, cwd)
    return Chosen(session, home, (*notices, *moved), resumed=True)


def _signs(session: Session, path: Path, places: Paths, *, told: bool) -> tuple[str, ...]:
    """What looks like damage, in one line; what reading has `told` already is not told again."""
    from agentsh.session.health.signs import signs_of_damage

    try:
        signs = [] if told else list(signs_of_damage(path, session.header))
        size = path.stat().st_size
    except OSError:
        return ()  # it is open already; who cannot look sees no sign
    if is_there(places.index):
        from agentsh.session.store.catalog import Index  # loads sqlite3

        size_then = Index(places.index).known_size(path, session.header.id) or 0
        if size_then > size:
            signs.append(f"it was longer, {size_then} bytes and now {size}")
    if not signs:
        return ()
    check = command_hint("verify", store_of(places).words(session.header.id, path))
    return (f"{path.name} may be damaged: {'; '.join(signs)} (`{check}` looks at all of it)",)


def _place(store: Store, path: Path, session: Session, cwd: Path) -> tuple[Path, tuple[str, ...]]:
    """The folder to work in, and what to say of it.

    A session of the user's own store names its folder. A file from anywhere else may have been
    written by anybody, and "inside the project folder" must not mean a folder that it chose.
    """
    home = Path(store.cwd_of(session.header.id, session.header.cwd))
    if str(home) in (str(cwd), clean(str(cwd))):  # a header is UTF-8, a folder's name need not be
        return cwd, ()
    if not is_folder(home):
        return cwd, (f"the session's folder {home} is gone; going on in {cwd}",)
    if not store.owns(path):
        return cwd, (
            f"{path.name} is not from your sessions folder, so its folder {home} is not entered: "
            f"working in {cwd}",
        )
    return home, (f"working in the session's folder {home}",)


def _forked(places: Paths, store: Store, cwd: Path, word: str) -> Chosen:
    from agentsh.cli.lookup.forking import fork_here

    path, entry = _fork_point(store, cwd, word)
    with open_session(path, write=False) as parent:
        fork_point: EntryId | None = parent.leaf if entry is None else parent.resolve(entry)
        home = None if store.owns(path) else str(cwd)
        child = fork_here(places, store, parent, fork_point, cwd=home)
    return opened(places, child, cwd)


def _fork_point(store: Store, cwd: Path, word: str) -> tuple[Path, str | None]:
    """SESSION or SESSION:ENTRY; a session's path may hold a colon itself."""
    try:
        return store.find(word, str(cwd)), None
    except AgentshError:
        session, colon, entry = word.rpartition(":")
        if not colon:
            raise
        return store.find(session, str(cwd)), entry
