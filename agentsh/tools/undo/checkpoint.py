"""The state of the working folder as a commit in a shadow store: what undo goes back to.

The cost is that of `git status` plus what changed: git's own index of the store tells what that
is. Left out, counted and named: what the user's ignore rules name, files over 5 MB, nested
repositories, what cannot be read or what git refuses; so that going back does not take them for
new. Modes are recorded beside (statenotes.py); those of folders, owners and times are not. A state
without changes is the commit that there is. One path never keeps the others from being recorded.
The user's repository, its index and its rules are not touched (shadow.py). Going back is undo.py's.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from agentsh.errors import GitRefusedError, ToolFailedError
from agentsh.tools.undo.shadow import Shadow, healed
from agentsh.tools.undo.statenotes import (
    Modes,
    Notes,
    first_modes,
    message_of,
    notes_of,
    remember,
    write_notes,
)
from agentsh.tools.undo.storefiles import keep_racy, racy_of

MAX_FILE = 5 * 1024 * 1024
MAX_FILES = 200_000
MAX_TOTAL = 4 * 1024**3
MAX_REFUSED = 64
_SHOWN = 20


class Checkpointed(Struct, frozen=True):
    """`commit` holds the state. `left_out` counts what it does not hold; `large` names some.

    `refused` names what git would not take; `renewed`: the store was damaged, and is a new one.
    """

    commit: str
    left_out: int = 0
    large: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    renewed: bool = False


class _Changes(Struct):
    """What the folder has that the index has not."""

    add: list[bytes] = field(default_factory=list)
    drop: list[bytes] = field(default_factory=list)
    """Paths of the index that are no longer there, or no longer recorded."""
    large: list[bytes] = field(default_factory=list)
    refused: list[bytes] = field(default_factory=list)
    """Paths that are there and cannot be recorded: not readable, no regular file."""
    left_out: list[bytes] = field(default_factory=list)
    """Paths that are ignored, or repositories; folders end in a slash."""
    total: int = 0


class _Looker:
    """Looks at paths of a folder, and follows no link on the way."""

    def __init__(self, shadow: Shadow) -> None:
        self._root = os.fsencode(shadow.tree)
        self._folders: dict[bytes, bool] = {b"": True}
        self._recent = int(time.time()) - 1
        self.racy: set[bytes] = set()
        """Those of `modes` that somebody changed just now."""

    def place(self, path: bytes) -> bytes:
        return self._root + b"/" + path

    def found(self, path: bytes) -> os.stat_result | None:
        """None: it is not there. Raises OSError: nobody can tell."""
        if not self._is_folder(os.path.dirname(path)):  # noqa: PTH120 - names need not be text
            return None
        try:
            return os.lstat(self.place(path))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _is_folder(self, path: bytes) -> bool:
        is_folder = self._folders.get(path)
        if is_folder is None:
            status = self.found(path)
            is_folder = status is not None and stat.S_ISDIR(status.st_mode)
            self._folders[path] = is_folder
        return is_folder

    def modes(self, paths: Iterable[bytes]) -> dict[bytes, int]:
        """The modes of those that are regular files."""
        seen = {}
        for path in paths:
            try:
                status = self.found(path)
            except OSError:
                continue
            if status is not None and stat.S_ISREG(status.st_mode):
                seen[path] = stat.S_IMODE(status.st_mode)
                if status.st_ctime >= self._recent:
                    self.racy.add(path)
        return seen


def snapshot(shadow: Shadow) -> Checkpointed:
    """Record the folder's state. Raises ToolFailedError (no git, no room, too much)."""
    with shadow.locked():
        return healed(shadow, lambda: take(shadow))


def take(shadow: Shadow) -> Checkpointed:
    """As `snapshot`, with the store already locked, and a damaged one left as it is."""
    shadow.carry_ignore_rules()
    head = shadow.head()
    before = None if head is None else notes_of(shadow, head.commit).modes
    stale = None if before is None else _stale(shadow)
    status = shadow.git(
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=all",
        "--ignored=matching",
        "--no-renames",
        "--ignore-submodules=all",
    )
    looker = _Looker(shadow)
    changes = _changes(shadow, looker, status)
    if len(changes.add) > MAX_FILES or changes.total > MAX_TOTAL:
        raise ToolFailedError(
            f"no checkpoint: {len(changes.add)} new files with {changes.total} bytes are too many"
        )
    _update(shadow, changes)
    left_out = tuple(sorted({*changes.left_out, *changes.large, *changes.refused}))
    notes = Notes(left_out, _modes(shadow, looker, before, changes, stale))
    keep_racy(shadow.store, looker.racy)
    is_new = changes.add or changes.drop or _is_staged(status)
    message = message_of(notes)
    if head is None or is_new or head.words != message:
        if head is None or head.words != message:
            write_notes(shadow, notes)
        commit = shadow.commit(head, message)
    else:
        commit = head.commit
    remember(shadow, commit, notes)
    return Checkpointed(commit, len(left_out), _some(changes.large), _some(changes.refused))


def _stale(shadow: Shadow) -> list[bytes] | None:
    """Recorded files whose mode may be another one; None: any of them.

    Of a mode that git does not keep it sees that the file's times changed, and nothing else. It
    forgets that with the next `status`, and it sees no change within a second.
    """
    racy = racy_of(shadow.store)
    if racy is None:
        return None
    return [*racy, *_paths(shadow.git("diff-files", "-z", "--name-only"))]


def _some(paths: Sequence[bytes]) -> tuple[str, ...]:
    return tuple(os.fsdecode(path) for path in paths[:_SHOWN])


def _modes(
    shadow: Shadow,
    looker: _Looker,
    before: Modes | None,
    changes: _Changes,
    stale: Sequence[bytes] | None,
) -> Modes:
    if before is None or stale is None:
        return first_modes(looker.modes(_paths(shadow.git("ls-files", "-z"))))
    modes = looker.modes({*changes.add, *stale} - set(changes.drop))
    gone = [path for path in (*changes.add, *changes.drop) if path not in modes]
    return before.with_changes(modes, gone)


def _update(shadow: Shadow, changes: _Changes) -> None:
    """Bring the index up to what was found. What git refuses is left out of it."""
    if changes.drop:
        shadow.git("update-index", "--force-remove", "-z", "--stdin", data=_list(changes.drop))
    if not changes.add:
        return
    refused: list[bytes] = []
    _add(shadow, changes.add, refused, [])
    if refused:
        shadow.git("update-index", "--force-remove", "-z", "--stdin", data=_list(refused))
        changes.add = [path for path in changes.add if path not in set(refused)]
        changes.drop += refused
        changes.refused += refused


def _add(
    shadow: Shadow, paths: list[bytes], refused: list[bytes], failures: list[GitRefusedError]
) -> None:
    """Add all paths at once.

    Where git refuses, add them in halves until the refused ones are known.
    """
    try:
        shadow.git(
            "update-index", "--add", "--remove", "--replace", "-z", "--stdin", data=_list(paths)
        )
    except GitRefusedError as e:
        failures.append(e)
        if len(failures) > MAX_REFUSED:
            raise
        if len(paths) == 1:
            refused += paths
            return
        middle = len(paths) // 2
        _add(shadow, paths[:middle], refused, failures)
        _add(shadow, paths[middle:], refused, failures)


def _changes(shadow: Shadow, looker: _Looker, status: bytes) -> _Changes:
    changes = _Changes()
    for row in status.split(b"\0"):
        kind, path = row[:2], row[3:]
        if not row or kind[1:] == b" ":
            continue
        if kind == b"!!" or path.endswith(b"/"):  # ignored; a repository inside this one
            if not shadow.is_apart(os.fsdecode(path)):
                changes.left_out.append(path)
            continue
        if shadow.apart and shadow.is_apart(os.fsdecode(path)):
            continue  # a project's own ignore rules may name them, and win over ours
        _judge(changes, looker, path, is_known=kind != b"??")
    return changes


def _judge(changes: _Changes, looker: _Looker, path: bytes, *, is_known: bool) -> None:
    """Put one changed path where it belongs."""
    try:
        status = looker.found(path)
    except OSError:
        changes.refused.append(path)  # it may be there, and nobody can look
    else:
        if status is None or stat.S_ISDIR(status.st_mode):
            pass  # gone; what is in a folder of its name has rows of its own
        elif stat.S_ISLNK(status.st_mode):
            changes.add.append(path)
            return
        elif not stat.S_ISREG(status.st_mode) or not os.access(looker.place(path), os.R_OK):
            changes.refused.append(path)
        elif status.st_size > MAX_FILE:
            changes.large.append(path)
        else:
            changes.add.append(path)
            changes.total += status.st_size
            return
    if is_known:
        changes.drop.append(path)  # an old state of it must not be brought back


def _is_staged(status: bytes) -> bool:
    """Whether the index holds what no commit does: an earlier snapshot was cut short."""
    return any(row[:1] not in (b" ", b"?", b"!", b"") for row in status.split(b"\0"))


def _paths(listed: bytes) -> list[bytes]:
    return [path for path in listed.split(b"\0") if path]


def _list(paths: Iterable[bytes]) -> bytes:
    return b"\0".join(paths) + b"\0"
