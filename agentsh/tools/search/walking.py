"""The files that a search covers, in one fixed order, lazily. grep and find both walk with this.

Covered: everything below the start, hidden or not, but `.git` and what `.gitignore` files name
(ignore.py), from the top of the repository down; where there is no repository, from the session's
folder down. A folder with a `.git` of its own starts anew, as git sees it. The start is always
taken, ignored or not, and rules that name all in it do not count: whoever names it means it (T18).
Links are listed, never followed; pipes, sockets and devices are passed over. Order: by the parts of
the path, each by code point.
It is one walk whether ripgrep is there or not, so both see the same files by construction.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from agentsh.abort import Abort
from agentsh.errors import ToolAbortedError, ToolTimeoutError
from agentsh.files import is_regular, open_foreign
from agentsh.tools.files import anchored
from agentsh.tools.search.ignore import (
    MAX_IGNORE_BYTES,
    IgnoreFile,
    IgnoreLevel,
    IgnoreStack,
    for_named,
    is_ignored,
)

PathKind: TypeAlias = Literal["file", "folder", "link"]

SEARCH_SECONDS = 60.0
MOST_NAMED = 5


class Deadline:
    """The time and the abort of one search."""

    def __init__(self, abort: Abort, seconds: float = SEARCH_SECONDS) -> None:
        self.abort = abort
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        """Raises ToolAbortedError or ToolTimeoutError."""
        if self.abort.is_set:
            raise ToolAbortedError("aborted by the user")
        if self.left() <= 0:
            raise ToolTimeoutError(
                f"timed out after {self._seconds:g} s; narrow the search with path or glob"
            )

    def left(self) -> float:
        return self._end - time.monotonic()


class Tally:
    """How many of something were met, with the names of the first few."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[tuple[str, str]] = []
        """(name, reason or "")"""

    def add(self, name: str, reason: str = "") -> None:
        self.count += 1
        if len(self.first) < MOST_NAMED:
            self.first.append((name, reason))


class WalkedPath(Struct, frozen=True):
    """`path` is relative to the start of the walk, with slashes."""

    path: str
    kind: PathKind


class Walk:
    """One walk below a folder (a real path); the counts grow as it goes."""

    def __init__(
        self, start: Path, project: Path, deadline: Deadline, hidden: tuple[Path, ...] = ()
    ) -> None:
        self.left_out = 0
        """Ignored entries that were met. An ignored folder is one; nobody looks what is in it."""
        self.unreadable = Tally()
        """Folders whose names could not be read, and names of which nobody can tell the kind."""
        self.unread_rules = Tally()
        """.gitignore files that could not be read: nothing was left out because of them."""
        self.links = Tally()
        """Links that were met: what lies behind them was not looked at."""
        self.files = 0
        self._start = start
        self._is_named = start != project
        self._hidden = frozenset(map(str, hidden))
        self._top = _top_of(start, project)
        self._deadline = deadline
        base = start.relative_to(self._top).as_posix()
        self._base = "" if base == "." else f"{base}/"

    def __iter__(self) -> Iterator[WalkedPath]:
        """Everything covered; a folder comes just before what is in it.

        Without recursion: a chain of folders may be deeper than Python's stack.
        """
        pending = [iter(self._listed("", self._outer_rules()))]
        while pending:
            following = next(pending[-1], None)
            if following is None:
                pending.pop()
                continue
            walked, rules = following
            self.files += walked.kind == "file"
            if walked.kind == "link":
                self.links.add(walked.path)
            yield walked
            if rules is not None:
                pending.append(iter(self._listed(f"{walked.path}/", rules)))

    def _outer_rules(self) -> IgnoreStack:
        """The rules of the folders above the start."""
        stack: IgnoreStack = ()
        skip = 0
        folder = self._top
        for part in Path(self._base).parts:
            stack = self._with_rules(stack, f"{folder}/.gitignore", skip)
            folder /= part
            skip += len(part) + 1
        return stack

    def _listed(
        self, below: str, stack: IgnoreStack
    ) -> list[tuple[WalkedPath, IgnoreStack | None]]:
        """What is covered of one folder, sorted; a folder with the rules that hold in it."""
        self._deadline.check()
        folder = f"{self._start}/{below}"
        with ExitStack() as opened:
            try:
                entries = sorted(opened.enter_context(self._scan(folder)), key=_name)
            except OSError as e:
                self.unreadable.add(below or ".", e.strerror or str(e))
                return []
            return self._covered(entries, folder, below, stack)

    def _scan(self, folder: str) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        """Where something is hidden, no link is followed: one may have come in between."""
        return anchored.looking_into(Path(folder)) if self._hidden else os.scandir(folder)

    def _covered(
        self, entries: Sequence[os.DirEntry[str]], folder: str, below: str, stack: IgnoreStack
    ) -> list[tuple[WalkedPath, IgnoreStack | None]]:
        names = {entry.name for entry in entries}
        prefix = self._base + below
        if ".git" in names:
            stack = ()
        if ".gitignore" in names:
            stack = self._with_rules(stack, f"{folder}.gitignore", len(prefix))
        if stack and self._is_named and not below:
            stack = for_named(stack, prefix)
        listed: list[tuple[WalkedPath, IgnoreStack | None]] = []
        for entry in entries:
            name = entry.name
            try:
                kind = _kind(entry)
            except OSError as e:
                self.unreadable.add(below + name, e.strerror or str(e))
                continue
            if kind is None or name == ".git":
                continue
            is_folder = kind == "folder"
            if is_folder and f"{folder}{name}".replace("//", "/") in self._hidden:
                continue
            if stack and is_ignored(stack, prefix + name, name, is_folder=is_folder):
                self.left_out += 1
                continue
            listed.append((WalkedPath(below + name, kind), stack if is_folder else None))
        return listed

    def _with_rules(self, stack: IgnoreStack, file: str, skip: int) -> IgnoreStack:
        """The stack with a .gitignore on top: a regular file, since git takes no link for one."""
        try:
            with open_foreign(file, follow=False) as opened:
                rules = opened.read(MAX_IGNORE_BYTES)
        except OSError as e:
            if is_regular(file, follow=False):
                name = os.path.relpath(file, self._start)
                self.unread_rules.add(name, e.strerror or str(e))
            return stack
        return (*stack, IgnoreLevel(IgnoreFile(rules), skip))


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _kind(entry: os.DirEntry[str]) -> PathKind | None:
    """What an entry is. None: it is gone, or neither a file nor a folder nor a link.

    Raises OSError.
    """
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else None


def _top_of(start: Path, project: Path) -> Path:
    """From where on .gitignore files count for a walk that starts here."""
    for folder in (start, *start.parents):
        if os.path.lexists(folder / ".git"):
            return folder
    return project if start.is_relative_to(project) else start
