"""Where an exploration lies, who runs it, and its log. Two folders, one lock.

`<sessions of the folder>/explore/<name>/` holds the log and the branches' sessions, one level below
where sessions are looked for; `<data>/explore/<name>/` holds what can go: the base, the store, the
workspaces, and the lock of whoever runs it. Reading takes no lock. Read next: facts.py,
coordinator.py.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from agentsh.errors import ExplorationError, ExplorationNotFoundError, SessionError
from agentsh.explore.log.facts import AnyExploreFact, fact_body, facts_of_lines
from agentsh.explore.log.state import Exploration, ExplorationFold, fold_facts
from agentsh.files import create_private, is_regular, is_there, open_regular, private_folder
from agentsh.session.file.session import Session, new_session, open_session
from agentsh.session.format.entries import Header, SessionId
from agentsh.session.store.folders import EXPLORATION_LOG, EXPLORE
from agentsh.session.store.reader import open_reader
from agentsh.session.store.store import Store
from agentsh.session.store.summary import read_header

WORKSPACES = "agentsh-explore"
"""The folder for all explorations, in one that a person named for workspaces."""
_LOCK = "lock"
_VISIT = "visit-"
_STOP = "stop-"
"""Begins the name of what is left behind where a branch is to end, then its number."""
_MOST_LOCK = 200
_MOST_LOOKING = 0.3
"""Seconds that others may look whether it is held."""


class ExploreFolders(Struct, frozen=True):
    """Of one exploration. Nothing is made before `create_log`."""

    name: str
    sessions: Path
    data: Path
    work: Path | None = None
    """Where bases and workspaces stand, if not in `data`: as its plan says."""

    @property
    def log(self) -> Path:
        return self.sessions / EXPLORATION_LOG

    @property
    def store(self) -> Path:
        return self.data / "store.git"

    @property
    def bases(self) -> Path:
        return (self.work or self.data) / "base"

    def base(self, number: int) -> Path:
        return self.bases / str(number)

    def branch(self, n: int) -> Path:
        return (self.work or self.data) / str(n)

    def working_in(self, workspaces: str | None) -> ExploreFolders:
        """With that folder for workspaces (the plan's); None: those in `data`."""
        if workspaces is None:
            return self
        return replace(self, work=Path(workspaces) / WORKSPACES / self.name)

    @property
    def passing(self) -> tuple[Path, ...]:
        """What there is of it beside log and sessions."""
        return (self.data,) if self.work is None else (self.work, self.data)


def new_exploration(store: Store, data: Path, cwd: Path) -> ExploreFolders:
    """A name that no exploration of this folder has."""
    while True:
        folders = folders_of(store, data, cwd, secrets.token_hex(4))
        if not is_there(folders.sessions):
            return folders


def folders_of(store: Store, data: Path, cwd: Path, name: str) -> ExploreFolders:
    return ExploreFolders(name, store.folder(str(cwd)) / EXPLORE / name, data / EXPLORE / name)


class ExplorationLog:
    """The log, open for the one who runs the exploration. Every record is durable at once."""

    def __init__(self, session: Session, folded: ExplorationFold | None) -> None:
        self._session = session
        self._fold = folded

    @property
    def id(self) -> str:
        return self._session.header.id

    @property
    def now(self) -> Exploration:
        assert self._fold is not None  # a plan is the first record of every log
        return self._fold.now()

    @property
    def rows(self) -> ExplorationFold:
        assert self._fold is not None
        return self._fold

    def note(self, *records: AnyExploreFact) -> None:
        """Durable when it returns. Raises SessionError: nothing more may begin."""
        for record in records:
            self._session.append(fact_body(record))
        self._session.barrier()
        for record in records:
            if self._fold is None:
                self._fold = fold_facts([record])
            else:
                self._fold.take(record)

    def close(self) -> None:
        self._session.close()


def create_exploration(
    folders: ExploreFolders, store: Store, cwd: Path, now: str
) -> ExplorationLog:
    """A new log; its first record makes the file."""
    private_folder(folders.sessions)
    header = Header(store.new_id(), now, str(cwd))
    return ExplorationLog(new_session(folders.log, header), None)


def open_exploration(folders: ExploreFolders) -> ExplorationLog:
    """Raises SessionError, ExplorationError: it holds no plan."""
    session = open_session(folders.log, write=True)
    read = _fold(folders)
    folded = None if read is None else read[1]
    if folded is None:
        session.close()
        raise ExplorationError(f"{folders.log} holds no plan of an exploration")
    return ExplorationLog(session, folded)


def read_exploration(folders: ExploreFolders) -> tuple[SessionId, Exploration] | None:
    """Without a lock; None: it was begun and has no plan yet. Raises SessionError."""
    read = _fold(folders)
    return None if read is None else (read[0], read[1].now())


def _fold(folders: ExploreFolders) -> tuple[SessionId, ExplorationFold] | None:
    with open_reader(folders.log) as reader:
        folded = fold_facts(facts_of_lines(line.data for line in reader.lines()))
        return None if folded is None else (reader.opening.header.id, folded)


# ---- who runs it ---------------------------------------------------------------------------------


class _Held:
    """A lock of one process; released when that ends, however."""

    def __init__(self, folder: Path, name: str) -> None:
        """Raises BlockingIOError: another process holds it; OSError."""
        private_folder(folder)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._fd = os.open(folder / name, flags, 0o600)
        if not self._taken():
            os.close(self._fd)
            raise BlockingIOError
        os.ftruncate(self._fd, 0)
        os.write(self._fd, str(os.getpid()).encode())

    def release(self) -> None:
        os.close(self._fd)

    def _taken(self) -> bool:
        """Whoever only looks holds it for a moment: that is waited for, and refuses nobody."""
        until = time.monotonic() + _MOST_LOOKING
        while True:
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    return False
                time.sleep(0.01)
            else:
                return True


class RunLock(_Held):
    """Of the one process that runs an exploration."""

    def __init__(self, folders: ExploreFolders) -> None:
        """Raises ExplorationError that names the other process."""
        try:
            super().__init__(folders.data, _LOCK)
        except BlockingIOError:
            raise ExplorationError(
                f"exploration {folders.name} is run by process {runner_of(folders) or 'unknown'}",
                hint=f"`agentsh explore stop {folders.name}` ends it; `show --follow` watches",
            ) from None


class VisitLock(_Held):
    """Of a person who is in the workspace of branch `n`."""

    def __init__(self, folders: ExploreFolders, n: int) -> None:
        """Raises ExplorationError: somebody is there already."""
        try:
            super().__init__(folders.data, f"{_VISIT}{n}")
        except BlockingIOError:
            raise ExplorationError(
                f"process {visitor_of(folders, n) or 'unknown'} is in branch {folders.name}.{n}"
            ) from None


def runner_of(folders: ExploreFolders) -> int | None:
    """The process that runs it now; None: nobody does."""
    return _holder(folders.data / _LOCK)


def visitor_of(folders: ExploreFolders, n: int) -> int | None:
    """The process that is in the workspace of branch `n`; None: nobody is."""
    return _holder(folders.data / f"{_VISIT}{n}")


def _holder(lock: Path) -> int | None:
    try:
        fd = open_regular(lock, os.O_RDWR, follow=False)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        said = os.pread(fd, _MOST_LOCK, 0)
        return int(said) if said.isdigit() else 0
    finally:
        os.close(fd)
    return None


def ask_to_stop(folders: ExploreFolders, n: int) -> None:
    """Leave word for the one who runs it that branch `n` is to end. Raises OSError."""
    with suppress(FileExistsError):
        os.close(create_private(folders.data / f"{_STOP}{n}"))


def stops_asked(folders: ExploreFolders) -> list[int]:
    """The branches that somebody wants to end; each is told once. Raises OSError."""
    asked = []
    for path in folders.data.glob(f"{_STOP}*"):
        number = path.name.removeprefix(_STOP)
        if number.isascii() and number.isdigit():
            asked.append(int(number))
            path.unlink(missing_ok=True)
    return sorted(asked)


# ---- which one a word means ----------------------------------------------------------------------


def explorations_in(store: Store, data: Path, cwd: Path | None) -> list[ExploreFolders]:
    """Explorations of a folder (None: of all), the newest first. Raises nothing."""
    parents = [store.folder(str(cwd))] if cwd is not None else [store.root, *store.folders()]
    begun: dict[Path, int] = {}
    for folder in parents:
        for log in _logs(folder / EXPLORE):
            begun[log] = _began(log)
    return [
        ExploreFolders(log.parent.name, log.parent, data / EXPLORE / log.parent.name)
        for log in sorted(begun, key=lambda log: (begun[log], log.name), reverse=True)
    ]


def _logs(folder: Path) -> Iterator[Path]:
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return
    for name in names:
        if is_regular(folder / name / EXPLORATION_LOG):
            yield folder / name / EXPLORATION_LOG


def _began(log: Path) -> int:
    """When it began: the header's time, for a later entry may be anybody's."""
    try:
        header = read_header(log)
    except (SessionError, OSError):
        return 0  # whoever looks at it is told; it must not hide the others
    digits = "" if header is None else "".join(c for c in header.created if c.isdigit())
    return int(digits or "0")


def find_exploration(store: Store, data: Path, cwd: Path, word: str) -> ExploreFolders:
    """`last`, a name or its unique prefix. Raises ExplorationNotFoundError."""
    here = explorations_in(store, data, cwd)
    if word == "last":
        if not here:
            raise ExplorationNotFoundError(f"there is no exploration of {cwd} yet")
        return here[0]
    matches = [each for each in explorations_in(store, data, None) if each.name.startswith(word)]
    exact = [each for each in matches if each.name == word]
    if len(exact or matches) != 1 or not word:
        how = "no" if not matches else "more than one"
        raise ExplorationNotFoundError(
            f"{how} exploration is called {word!r}", hint="`agentsh explore list --all` lists them"
        )
    return (exact or matches)[0]


def find_branch(
    store: Store, data: Path, cwd: Path, word: str
) -> tuple[ExploreFolders, Exploration, int]:
    """`EXPLORATION.N`, or `N` of the last one. Raises ExplorationNotFoundError."""
    name, dot, number = word.rpartition(".")
    if not number.isascii() or not number.isdigit():
        raise ExplorationNotFoundError(f"{word!r} names no branch", hint="EXPLORATION.N, or N")
    folders = find_exploration(store, data, cwd, name if dot else "last")
    read = read_exploration(folders)
    if read is None or not 0 < int(number) <= len(read[1].rows):
        raise ExplorationNotFoundError(f"exploration {folders.name} has no branch {number}")
    return folders, read[1], int(number)
