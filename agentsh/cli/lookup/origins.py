"""FILE[:LINE[-LINE]] → who wrote those lines, over the sessions of a folder. Looks only.

Which sessions there are is the store's, which other folders count touching.py's, what they have on
record agent/authors/witness.py's, and who wrote a line agent/authors/why.py's. `agentsh why` and
the chat's /why ask here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from agentsh.agent.authors.why import Origins, joined_lines, origins, tells_more
from agentsh.agent.authors.witness import Witness, read_witness
from agentsh.agent.files.filestates import state_wanted
from agentsh.cli.lookup.touching import other_folders
from agentsh.cli.setup.paths import Paths
from agentsh.errors import (
    EntryNotFoundError,
    LineNotFoundError,
    SessionError,
    SessionNotFoundError,
)
from agentsh.files import TooLargeError, is_folder, read_foreign
from agentsh.jsontext import clean
from agentsh.session.file.session import Session, open_session
from agentsh.session.format.entries import EntryId, Header
from agentsh.session.store.folders import SUFFIX
from agentsh.session.store.reader import open_reader
from agentsh.session.store.store import Store
from agentsh.session.store.trash import removed
from agentsh.tools.undo.checkpointer import Checkpointer

_RANGE = re.compile(r"(.+?):(\d{1,9})(?:-(\d{1,9}))?", re.DOTALL)
_MOST_BYTES = 32 * 1024 * 1024
_LOOKED_AT = 8192
PACKED = ".zst"
"""How an archive's name ends."""


class LineRange(Struct, frozen=True):
    """A file, and the lines of it (from 1) that are asked for. None: all."""

    path: str
    first: int | None = None
    last: int | None = None


def read_place(word: str, cwd: Path) -> LineRange:
    """What FILE[:LINE[-LINE]] means; a file of the whole name comes first."""
    match = _RANGE.fullmatch(word)
    if match is None or os.path.lexists(cwd / word):
        return LineRange(word)
    first = int(match[2])
    return LineRange(match[1], first, int(match[3]) if match[3] else first)


def find_origins(
    word: str, cwd: Path, store: Store, places: Paths, only: Path | None = None
) -> Origins:
    """Of the lines that a word names. `only`: the file of the one session that is asked.

    Raises LineNotFoundError, SessionError: that session cannot be read.
    """
    asked = read_place(word, cwd)
    path = os.path.realpath(cwd / asked.path)
    data = _bytes(path, asked.path)
    lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    first, last = asked.first or 1, lines if asked.last is None else asked.last
    if asked.first == 0 or (asked.first is not None and not first <= last <= lines):
        named_lines = word[len(asked.path) + 1 :]
        raise LineNotFoundError(f"{asked.path} has {lines} lines, and no {named_lines}")
    answer = _of_the_folder(cwd, path, data, store, places, only)
    return Origins(answer.lines[first - 1 : last], answer.notices, answer.is_on_record)


def _of_the_folder(
    cwd: Path, path: str, data: bytes, store: Store, places: Paths, only: Path | None
) -> Origins:
    """By the sessions of the folder, and of the others that know of the file."""
    mine = _by_sessions_of(cwd, path, data, store, places, only)
    if only is not None and mine.is_on_record:
        return mine
    answers = [mine] if mine.is_on_record else []
    notices = list(mine.notices) if mine.is_on_record else []
    for folder in other_folders(path, cwd, store):
        answer = _by_sessions_of(folder, path, data, store, places, only)
        if not answer.is_on_record:
            continue
        if tells_more(answer, answers):
            notices.append(f"by sessions of {folder}")
        if not answers:
            notices += answer.notices
        answers.append(answer)
    return Origins(joined_lines(answers), tuple(notices)) if answers else mine


def _by_sessions_of(
    folder: Path, path: str, data: bytes, store: Store, places: Paths, only: Path | None
) -> Origins:
    """Of all lines of a file, by the record of the sessions that ran in that folder."""
    root = os.path.realpath(folder)
    name = os.path.relpath(path, root) if path.startswith(f"{root.rstrip('/')}/") else path
    unread: list[str] = []
    records = list(_witnesses(store, places, str(folder), unread))
    session = None
    if only is not None:
        mine = _witness(only, lambda _header: True)
        assert mine is not None
        session = mine.session
        if all(record.session != session for record in records):
            records.append(mine)
    checkpointer = Checkpointer(Path(root), places.checkpoints, os.environ)
    answer = origins(
        name, data, records, checkpointer, Path(root), only=session, is_complete=not unread
    )
    is_on_record = answer.is_on_record or bool(unread)
    return replace(answer, notices=(*unread, *answer.notices), is_on_record=is_on_record)


def _witnesses(store: Store, places: Paths, cwd: str, unread: list[str]) -> Iterator[Witness]:
    """Of each session of the folder, archived and removed ones too; what cannot be read is named.

    Of what was removed nothing is told; but its lines are nobody else's.
    """
    names = (cwd, clean(cwd))
    gone = {each.file for each in removed(places.trash) if each.cwd in names}
    folders = filter(is_folder, (store.root, store.folder_of(cwd)))
    archives = {path for folder in folders for path in folder.glob(f"*{SUFFIX}{PACKED}")}
    for path in (*store.files(cwd), *sorted(archives), *sorted(gone)):
        try:
            witness = _witness(
                path, lambda header: store.cwd_of(header.id, header.cwd) in names, path in gone
            )
        except SessionNotFoundError:
            continue  # no session
        except (SessionError, OSError) as e:
            unread.append(f"{path.name} is not asked, so what it may have done is unknown: {e}")
            continue
        if witness is not None:
            yield witness


def _witness(
    path: Path, belongs: Callable[[Header], bool], is_removed: bool = False
) -> Witness | None:
    """None: it is of another folder. Raises SessionError, OSError."""
    opener = open_reader
    if path.name.endswith(PACKED):
        from agentsh.session.store.packed import open_any as opener  # it loads zstd

    with ExitStack() as stack:
        source = stack.enter_context(opener(path))
        if not is_removed and not belongs(source.opening.header):
            return None
        sessions: list[Session] = []

        def wanted(entry: EntryId) -> EntryId | None:
            """Only the tree tells; few sessions ask."""
            if path.name.endswith(PACKED):
                return None
            if not sessions:
                sessions.append(stack.enter_context(open_session(path, write=False)))
            try:
                state = state_wanted(sessions[0], entry)
            except EntryNotFoundError:  # of two lines with one id, the tree knows the other
                return None
            return None if state is None else state.entry

        return read_witness(source, wanted, is_removed=is_removed)


def _bytes(path: str, shown: str) -> bytes:
    """The whole file. Raises LineNotFoundError."""
    try:
        data = read_foreign(Path(path), _MOST_BYTES)
    except TooLargeError as e:
        raise LineNotFoundError(f"{shown} is larger than {_MOST_BYTES >> 20} MB") from e
    except OSError as e:
        reason = "no such file" if isinstance(e, FileNotFoundError) else e.strerror or str(e)
        raise LineNotFoundError(f"{shown}: {reason}") from e
    if b"\0" in data[:_LOOKED_AT]:
        raise LineNotFoundError(f"{shown} is binary, and has no lines")
    return data
