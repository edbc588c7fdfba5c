"""What a branch did to its files, as a commit of the exploration's store.

The store holds the base as its first commit and each result as a child of it. A result is the base
with the paths that the branch changed; what a setup made before the branch began is no change. The
branch's own `.git` is not asked, whatever it committed. Read next: basing.py, explore/picking.py.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from agentsh.explore.workspace.gitcalls import GitCalls
from agentsh.explore.workspace.private_git import believe_times
from agentsh.files import is_there, write_private
from agentsh.tools.search.globs import PathGlob
from agentsh.tools.undo.storefiles import lay_out

KINDS = {"A": "create", "D": "delete", "M": "change", "T": "change"}
_PATCH = (
    "diff-tree", "-r", "-p", "--no-renames", "--binary", "--full-index", "--no-color",
    "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip
_QUOTED = ("-c", "core.quotePath=true")
CAPTURE_INDEX = "index-"
"""Begins the name of a folder in which one capture has its index; one that was killed leaves it."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
FileMarks = Mapping[bytes, tuple[int, int, int]]
"""Path → size, mode, time of change: what tells a file from a later state of it."""


class CapturedTree(Struct, frozen=True):
    """`changed`: (path, create | change | delete)."""

    commit: str
    tree: str
    changed: tuple[tuple[str, str], ...]
    added: int
    removed: int


class ResultStore(Struct, frozen=True):
    """One exploration's store, for one base. `index`: the base's, never changed after `begin`."""

    git: GitCalls
    store: Path
    index: Path
    apart: tuple[bytes, ...] = ()
    """Folders, with their slash, that are agentsh's own: nothing in them is a branch's."""

    def begin(self, base: Path, paths: Iterable[bytes], rules: bytes) -> str:
        """Make the store, if need be, and the base's commit; `rules`: ignore rules."""
        self.store.mkdir(mode=0o700, parents=True, exist_ok=True)
        lay_out(self.store)
        believe_times(self.store / "config")
        write_private(self.store / "info" / "exclude", rules)
        self._add(base, self.index, paths)
        return self._commit(base, self.index, None)[0]

    def marks(self, work: Path, aside: Path) -> FileMarks:
        """What differs from the base now, each with what tells its state."""
        with self._own_index(aside) as index:
            return {path: _mark(work, path) for path in self._differing(work, index)}

    def capture(
        self, work: Path, aside: Path, base: str, before: FileMarks, name: str
    ) -> CapturedTree:
        """Record the workspace; `aside`: the branch's folder. Raises ToolFailedError, OSError."""
        with self._own_index(aside) as index:
            return self._captured(work, index, base, before, name)

    def _captured(
        self, work: Path, index: Path, base: str, before: FileMarks, name: str
    ) -> CapturedTree:
        changed = [
            path
            for path in self._differing(work, index)
            if path not in before or before[path] != _mark(work, path)
        ]
        if not changed:  # as many branches end, and each git is a process
            same = self._read("rev-parse", "--verify", f"{base}^{{tree}}")
            return CapturedTree(base, same.decode("ascii").strip(), (), 0, 0)
        # what a setup had made and the branch took away is no file of the base: nothing to record
        self._add(work, index, changed)
        commit, tree = self._commit(work, index, base)
        self.git.store(self.store, work, index, "update-ref", f"refs/heads/{name}", commit)
        rows, added, removed = self.differences(base, commit)
        return CapturedTree(commit, tree, rows, added, removed)

    def differences(self, old: str, new: str) -> tuple[tuple[tuple[str, str], ...], int, int]:
        """(path, kind) of each file that differs, and the lines that were added and removed."""
        ask = ("diff-tree", "-r", "-z", "--no-renames", "--raw", "--numstat", old, new)
        rows: list[tuple[str, str]] = []
        added = removed = 0
        words = iter(self._read(*ask).split(b"\0"))
        for word in filter(None, words):
            if word.startswith(b":"):  # then a path follows; such rows come first
                kind = word.rsplit(b" ", 1)[1].decode("ascii")
                rows.append((os.fsdecode(next(words)), KINDS[kind[:1]]))
                continue
            plus, minus, _ = word.split(b"\t", 2)
            added += int(plus) if plus.isdigit() else 0
            removed += int(minus) if minus.isdigit() else 0
        return tuple(rows), added, removed

    def patch(self, old: str, new: str) -> bytes:
        """As `git apply` takes it."""
        return self._read(*_PATCH, old, new)

    def patch_text(self, old: str, new: str) -> str:
        """The same as text: a file whose lines are none is told as a binary one, losing nothing."""
        patch = self.patch(old, new)
        if (text := _as_text(patch)) is not None:
            return text
        with tempfile.TemporaryDirectory(prefix="agentsh-") as folder:
            return "".join(
                _as_text(self._read(*_QUOTED, *_PATCH, old, new, "--", path))
                or self._as_binary(Path(folder) / "store.git", old, new, path)
                for path, _ in self.differences(old, new)[0]
            )

    def _as_binary(self, aside: Path, old: str, new: str, path: str) -> str:
        """One file's patch from a store beside ours, for which no file is text."""
        aside.mkdir(exist_ok=True)
        lay_out(aside)
        (aside / "info" / "attributes").write_text("* -diff\n")
        lending = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(self.store / "objects")}
        git = replace(self.git, environ={**self.git.environ, **lending})
        words = (*_QUOTED, *_PATCH, old, new, "--", path)
        return git.store(aside, aside, self.index, *words).decode("ascii")

    def bring_up(self, tree: Path, index: Path, paths: Iterable[bytes]) -> None:
        """Bring those paths of an index up to what the folder has."""
        self._add(tree, index, paths)

    def commit_of(self, tree: Path, index: Path, parent: str) -> str:
        """What an index holds, as a commit."""
        return self._commit(tree, index, parent)[0]

    @contextmanager
    def _own_index(self, aside: Path) -> Iterator[Path]:
        """A copy of the base's, with its time: by that git tells what changed in its second.

        Nobody else's, ever: git that was killed leaves the lock of an index behind.
        """
        with tempfile.TemporaryDirectory(prefix=CAPTURE_INDEX, dir=aside) as folder:
            index = Path(folder) / "index"
            shutil.copy2(self.index, index)
            yield index

    def _read(self, *words: str) -> bytes:
        return self.git.store(self.store, self.store, self.index, *words)

    def _differing(self, work: Path, index: Path) -> list[bytes]:
        """Tracked files that differ or are gone, and new ones that no rule ignores."""
        listed = self.git.store(
            self.store, work, index, "ls-files", "-z", "--others", "--exclude-standard"
        )
        new = [
            path
            for path in self._within(work, listed.split(b"\0"))
            if path and not path.startswith(self.apart) and _is_kept(work, path)
        ]
        changed = self.git.store(self.store, work, index, "diff-files", "-z", "--name-only")
        return sorted({*new, *(path for path in changed.split(b"\0") if path)})

    def _within(self, work: Path, listed: Iterable[bytes]) -> list[bytes]:
        """Those paths; for a repository that a branch made or cloned, its files (not its `.git`).

        As its own rules list them: git names no more than its folder, and nothing is to be lost.
        """
        paths: list[bytes] = []
        for path in listed:
            here = work / os.fsdecode(path)
            if not path.endswith(b"/") or not is_there(here / ".git"):
                paths.append(path)
                continue
            own = self.git.read(here, "ls-files", "-z", "-c", "-o", "--exclude-standard")
            paths += self._within(work, (path + each for each in own.split(b"\0") if each))
        return paths

    def _add(self, tree: Path, index: Path, paths: Iterable[bytes]) -> None:
        """Bring those paths of an index up to the folder. What a link stands above is gone."""
        top = os.fsencode(tree)
        there, gone = bytearray(), bytearray()
        for path in paths:
            if is_beyond_link(top, path):
                gone += b"0 " + b"0" * 40 + b"\t" + path + b"\0"
            else:
                there += path + b"\0"
        if gone:
            removal = ("update-index", "-z", "--index-info")
            self.git.store(self.store, tree, index, *removal, data=bytes(gone))
        words = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
        self.git.store(self.store, tree, index, *words, data=bytes(there))

    def _commit(self, tree: Path, index: Path, parent: str | None) -> tuple[str, str]:
        made = self.git.store(self.store, tree, index, "write-tree").decode("ascii").strip()
        above = () if parent is None else ("-p", parent)
        commit = self.git.store(self.store, tree, index, "commit-tree", made, *above, "-m", "state")
        return commit.decode("ascii").strip(), made


def is_for_want_of_room(error: Exception) -> bool:
    """Whether the disk of the store takes no more. Git has only words for it, in English here."""
    return any(os.strerror(number) in str(error) for number in _NO_ROOM)


def paths_named(paths: Iterable[str], patterns: Collection[str]) -> tuple[str, ...]:
    """Those of the paths that one of the globs means (`**` is any depth). Raises GlobError."""
    globs = [PathGlob(pattern) for pattern in patterns]
    return tuple(path for path in paths if any(glob.matches(path) for glob in globs))


def is_beyond_link(top: bytes, path: bytes) -> bool:
    """Whether a folder of the path is a link: then no file below `top` has that path."""
    folder = top
    for name in path.split(b"/")[:-1]:
        folder += b"/" + name
        if os.path.islink(folder):  # noqa: PTH114 - names need not be text
            return True
    return False


def _as_text(patch: bytes) -> str | None:
    try:
        return patch.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _mark(work: Path, path: bytes) -> tuple[int, int, int]:
    try:
        status = os.lstat(os.fsencode(work) + b"/" + path)
    except OSError:
        return (-1, 0, 0)
    return (status.st_size, status.st_mode, status.st_mtime_ns)


def _is_kept(work: Path, path: bytes) -> bool:
    """Regular files and links; a repository inside, a pipe or a socket is no file of a branch."""
    try:
        status = os.lstat(os.fsencode(work) + b"/" + path)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)
