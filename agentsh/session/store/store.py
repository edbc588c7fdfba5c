"""A folder of sessions: where a new one goes, which one a word means, what a list shows.

A session belongs to the folder that its header names, or that it was relinked to; never to the one
that its place suggests, for two folders may encode alike (S16). Both layouts are read, whichever
new files follow: a folder for each project (Pi's rule), or flat. A word from outside is an id, a
beginning of one, `last`, or plainly a path; an id never becomes a path (X05). Looking writes
nothing but what catalog.py keeps elsewhere. Read next: summary.py, session.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from agentsh.errors import (
    AmbiguousSessionError,
    RefusedError,
    SessionNotFoundError,
    UsageError,
)
from agentsh.files import from_home, is_regular, open_regular, real
from agentsh.jsontext import clean
from agentsh.session.file.environment import HERE, Surroundings
from agentsh.session.file.session import Session, new_session
from agentsh.session.format.entries import Header, SessionId
from agentsh.session.format.facts import Origin
from agentsh.session.format.ids import session_id
from agentsh.session.format.times import iso_time
from agentsh.session.store.folders import (
    SUFFIX,
    branch_files,
    note_unread,
    project_folders,
    real_folder,
    session_files,
)
from agentsh.session.store.naming import (
    file_name,
    folder_name,
    id_in_name,
    is_id_word,
    words_for_session,
)
from agentsh.session.store.relinks import Relink, Relinks
from agentsh.session.store.summary import Summary, last_conversation, read_header, summarize

Summaries: TypeAlias = Callable[[Iterable[Path]], Mapping[Path, Summary]]


class SessionRow(Struct, frozen=True):
    """One session in a list. `updated` is the time of its last conversation entry.

    `name` is the person's own, else the automatic title, which `title` holds then, too.
    """

    id: SessionId
    path: Path
    cwd: str
    name: str | None
    prompt: str | None
    created: str
    updated: str
    messages: int
    version: int = 3
    parent: str | None = None
    title: str | None = None


def summarize_each(files: Iterable[Path]) -> dict[Path, Summary]:
    """What Index.summaries answers, without an index."""
    summaries = {}
    for path in files:
        try:
            summary = summarize(path)
        except OSError:
            continue  # gone since, or not ours to read
        if summary is not None:
            summaries[path] = summary
    return summaries


class Store:
    """`flat`: new files lie in `root` itself. `summaries`: Index.summaries, where one is kept.

    `named`: the word of the option that named this store; commands that are printed repeat it.
    """

    def __init__(
        self,
        root: Path,
        flat: bool = False,
        *,
        summaries: Summaries = summarize_each,
        random: Callable[[int], bytes] = os.urandom,
        around: Surroundings = HERE,
        named: str | None = None,
    ) -> None:
        self.root = root
        self.named = named
        self.flat = flat
        self._summaries = summaries
        self._random = random
        self._around = around
        self._relinks = Relinks(root)

    # ---- places --------------------------------------------------------------------------------

    def folder(self, cwd: str) -> Path:
        """Where new sessions of a folder lie."""
        return self.root if self.flat else self.folder_of(cwd)

    def folder_of(self, cwd: str) -> Path:
        """Where sessions of a folder lie if each project has one."""
        return self.root / folder_name(cwd)

    def new_id(self) -> SessionId:
        return session_id(self._around.clock(), self._random(10))

    def create(
        self,
        cwd: str,
        *,
        id: str | None = None,
        parent: Path | None = None,
        root: Callable[[Origin], Origin] = lambda origin: origin,
    ) -> Session:
        """A session that begins; nothing is on the disk before its first barrier.

        `root` may say more of where it comes from.
        Raises UsageError for an id that could be taken for something else.
        """
        if id is not None and not is_id_word(id):
            raise UsageError(f"{id[:80]!r} cannot be a session's id")
        now = iso_time(self._around.clock())
        name = SessionId(id) if id is not None else self.new_id()
        above = None if parent is None else str(parent.absolute())
        header = Header(name, now, cwd, parent_session=above)
        return new_session(self.path_for(cwd, now, name), header, root=root, around=self._around)

    def path_for(self, cwd: str, timestamp: str, session: str) -> Path:
        """The file of a new session."""
        return self.folder(cwd) / file_name(timestamp, session)

    def files(self, cwd: str | None = None, unread: dict[str, str] | None = None) -> list[Path]:
        """The files that may be sessions (of the folder `cwd`), sorted. Nothing is opened."""
        root = str(self.root)
        folders = [str(self.folder_of(cwd))] if cwd is not None else project_folders(root, unread)
        paths = {e.path for each in (root, *folders) for e in session_files(each, unread)}
        if cwd is not None:
            paths.update(map(str, self._tied_to(cwd)))
        return [Path(path) for path in sorted(paths)]

    def branch_files(self, cwd: str | None = None) -> list[Path]:
        """The sessions of branches of explorations: in no list, but found by who names them."""
        root = str(self.root)
        named = project_folders(root) if cwd is None else [str(self.folder_of(cwd))]
        return [Path(path) for each in (root, *named) for path in sorted(branch_files(each))]

    def folders(self) -> list[Path]:
        """The folders of projects, by whatever rule they are named."""
        return [Path(path) for path in project_folders(str(self.root))]

    def _tied_to(self, cwd: str) -> list[Path]:
        """Files of sessions that were relinked to the folder."""
        paths = []
        for session, relink in self._relinks.all().items():
            if not _is_folder(relink.cwd, cwd):
                continue
            path = self.root / relink.file
            if not is_regular(path):
                named = [p for p in self.files() if id_in_name(p.name) == session]
                path = named[0] if named else path
            # the overlay is a file like any other: what it names must lie in the store
            if is_regular(path) and self.owns(path):
                paths.append(path)
        return paths

    def owns(self, path: Path) -> bool:
        """Whether a file lies in this store, all links resolved."""
        return real(path).is_relative_to(real(self.root))

    def words(self, session: str, path: Path | None) -> tuple[str, ...]:
        """What names a session in a command that is printed (naming.py)."""
        owned = path is not None and self.owns(path)
        return words_for_session(session, path, is_owned=owned, session_dir=self.named)

    def cwd_of(self, session: str, header_cwd: str) -> str:
        """The folder that a session belongs to now."""
        relink = self._relinks.all().get(session)
        return real_folder(header_cwd if relink is None else relink.cwd)

    # ---- which one -----------------------------------------------------------------------------

    def find(self, word: str, cwd: str) -> Path:
        """The file that a SESSION word means. Raises SessionNotFound- or AmbiguousSessionError."""
        if word == "last":
            latest = self.latest(cwd)
            if latest is None:
                raise SessionNotFoundError(f"no session of {cwd} yet")
            return latest
        if "/" in word or word.endswith(SUFFIX):
            return self._at_path(word, cwd)
        if not is_id_word(word):
            raise SessionNotFoundError(f"no session matches {word[:80]!r}")
        return self._with_id(word)

    def _at_path(self, word: str, cwd: str) -> Path:
        path = Path(cwd, word) if not word.startswith("~") else Path(word)
        try:
            path = from_home(path)
            if not path.is_file():
                wrong = "not a regular file" if path.exists() else "no such file"
                raise SessionNotFoundError(f"{wrong}: {word[:200]}", path=word)
            if read_header(path) is None:
                raise SessionNotFoundError(f"not a session file: {word[:200]}", path=str(path))
        except (OSError, ValueError, RuntimeError) as e:
            raise SessionNotFoundError(f"cannot read {word[:200]!r}: {_words(e)}", path=word) from e
        return path

    def _with_id(self, word: str) -> Path:
        """By the names, which hold the ids; the header has the last word. No catalogue is read."""
        unread: dict[str, str] = {}
        matches = _with_prefix(word, self.files(unread=unread), unread)
        matches = matches or _with_prefix(word, self.branch_files(), unread)
        exact = {p: i for p, i in matches.items() if i == word}
        matches = exact or matches
        if not matches:
            closed = "".join(f"; {p} cannot be read: {w}" for p, w in islice(unread.items(), 3))
            raise SessionNotFoundError(f"no session matches {word!r}{closed}")
        if len(matches) > 1:
            ids = tuple(sorted(matches.values()))
            shown = [f"{i} ({p})" for p, i in matches.items()] if len(set(ids)) == 1 else list(ids)
            more = "" if len(shown) <= 5 else f" and {len(shown) - 5} more"
            raise AmbiguousSessionError(
                f"{word!r} matches {len(matches)} sessions: {', '.join(sorted(shown)[:5])}{more}",
                matches=ids,
            )
        return next(iter(matches))

    def latest(self, cwd: str) -> Path | None:
        """The session of the folder whose last conversation entry is newest. Needs no index.

        One in which nothing was said yet, only named perhaps, comes after all others (U20).
        Raises SessionNotFoundError where one that may be the last cannot be read.
        """
        relinks = self._relinks.all()
        best: tuple[bool, str, str, Path] | None = None
        unread: dict[str, str] = {}
        for path in self.files(cwd, unread):
            try:
                header = read_header(path)
                if header is None or not _is_folder(_home(header, relinks), cwd):
                    continue
                updated = last_conversation(path)
            except OSError as e:
                note_unread(unread, str(path), e)
                continue
            rank = (updated is not None, updated or "", header.created, path)
            best = rank if best is None else max(best, rank)
        for name, reason in unread.items():
            if best is None or _changed(name) >= _changed(best[-1]):
                raise SessionNotFoundError(
                    f"the last session of {cwd} cannot be told: {name} cannot be read: {reason}",
                    path=name,
                    hint="name the session; `agentsh sessions` lists those that can be read",
                )
        return best[-1] if best else None

    # ---- lists ---------------------------------------------------------------------------------

    def rows(
        self,
        cwd: str | None = None,
        unread: dict[str, str] | None = None,
        *,
        branches: bool = False,
    ) -> list[SessionRow]:
        """The sessions of a folder, or all, the newest conversation first.

        `branches`: those of explorations as well.
        """
        relinks = self._relinks.all()
        rows = []
        files = self.files(cwd, unread)
        files += self.branch_files(cwd) if branches else []
        summaries = self._summaries(files)
        for path in files:
            if unread is not None and path not in summaries:
                try_to_read(path, unread)
        for path, summary in summaries.items():
            home = _home(summary, relinks)
            if cwd is None or _is_folder(home, cwd):
                rows.append(_row(path, home, summary))
        rows.sort(key=lambda r: (r.updated, r.created, str(r.path)), reverse=True)
        return rows

    # ---- changes -------------------------------------------------------------------------------

    def relink(self, path: Path, cwd: str) -> None:
        """Tie a session of this store to another folder; its file stays as it is, where it is."""
        header = _header(path)
        if header is None:
            raise SessionNotFoundError(f"not a session file: {path}", path=str(path))
        if not self.owns(path):
            raise RefusedError(f"{path} is not in the sessions folder {self.root}", path=str(path))
        file = real(path).relative_to(real(self.root))
        tied = None if _is_folder(header.cwd, cwd) else Relink(cwd, str(file))
        self._relinks.set(header.id, tied)


def _with_prefix(word: str, files: Iterable[Path], unread: dict[str, str]) -> dict[Path, str]:
    """Those whose ids begin so → their ids."""
    matches = {}
    for path in files:
        named = id_in_name(path.name)
        if named is None or named.startswith(word):
            header = _header(path, unread)
            if header is not None and header.id.startswith(word):
                matches[path] = str(header.id)
    return matches


def _words(error: Exception) -> str:
    """What the system says, without the path once more."""
    return str((error.strerror if isinstance(error, OSError) else None) or error)


def try_to_read(path: Path, unread: dict[str, str]) -> None:
    """Open a file that gave no session, to know whether it may be read at all."""
    try:
        os.close(open_regular(path))
    except OSError as e:
        note_unread(unread, str(path), e)


def _changed(path: str | Path) -> int:
    """When a file was last changed, in nanoseconds. One that cannot be looked at changed now."""
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 1 << 63


def _is_folder(named: str, cwd: str) -> bool:
    """Whether a header names this folder: a file is UTF-8, a folder's name need not be."""
    return named in (cwd, clean(cwd))


def _home(summary: Summary, relinks: Mapping[str, Relink]) -> str:
    tied = relinks.get(summary.id)
    return summary.cwd if tied is None else tied.cwd


def _row(path: Path, cwd: str, summary: Summary) -> SessionRow:
    return SessionRow(
        id=SessionId(summary.id),
        path=path,
        cwd=cwd,
        name=summary.shown_name,
        prompt=summary.prompt,
        created=summary.created,
        updated=summary.updated,
        messages=summary.messages,
        version=summary.version,
        parent=summary.parent,
        title=summary.shown_title,
    )


def _header(path: Path, unread: dict[str, str] | None = None) -> Summary | None:
    try:
        return read_header(path)
    except OSError as e:
        note_unread(unread, str(path), e)
        return None
