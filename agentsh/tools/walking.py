"""The files that a search covers, in one fixed order, lazily. grep and find both walk with this.

Covered: everything below the start, hidden or not, but `.git` and what `.gitignore` files name
(ignore.py), from the top of the repository down; where there is no repository, from the session's
folder down. A folder with a `.git` of its own starts anew, as git sees it. The start itself is
always taken, ignored or not: whoever names it means it. Links are listed, never followed; pipes,
sockets and devices are passed over. Order: by the parts of the path, each by code point.
It is one walk whether ripgrep is there or not, so both see the same files by construction.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from agentsh.abort import Abort
from agentsh.errors import ToolAbortedError, ToolTimeoutError
from agentsh.tools.ignore import (
    MAX_IGNORE_BYTES,
    IgnoreFile,
    IgnoreLevel,
    IgnoreStack,
    is_ignored,
)

Kind: TypeAlias = Literal["file", "folder", "link"]

SEARCH_SECONDS = 60.0


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


class Found(Struct, frozen=True):
    """`path` is relative to the start of the walk, with slashes."""

    path: str
    kind: Kind


class Walk:
    """One walk below a folder (a real path); the counts grow as it goes."""

    def __init__(self, start: Path, project: Path, deadline: Deadline) -> None:
        self.left_out = 0
        """Ignored entries that were met. An ignored folder is one; nobody looks what is in it."""
        self.unreadable = 0
        self.files = 0
        self._start = start
        self._top = _top_of(start, project)
        self._deadline = deadline
        base = start.relative_to(self._top).as_posix()
        self._base = "" if base == "." else f"{base}/"

    def __iter__(self) -> Iterator[Found]:
        """Everything covered; a folder comes just before what is in it.

        Without recursion: a chain of folders may be deeper than Python's stack.
        """
        pending = [iter(self._listed("", self._outer_rules()))]
        while pending:
            following = next(pending[-1], None)
            if following is None:
                pending.pop()
                continue
            found, rules = following
            self.files += found.kind == "file"
            yield found
            if rules is not None:
                pending.append(iter(self._listed(f"{found.path}/", rules)))

    def _outer_rules(self) -> IgnoreStack:
        """The rules of the folders above the start."""
        stack: IgnoreStack = ()
        skip = 0
        place = self._top
        for part in Path(self._base).parts:
            stack = _with_rules(stack, f"{place}/.gitignore", skip)
            place /= part
            skip += len(part) + 1
        return stack

    def _listed(self, below: str, stack: IgnoreStack) -> list[tuple[Found, IgnoreStack | None]]:
        """What is covered of one folder, sorted; a folder with the rules that hold in it."""
        self._deadline.check()
        folder = f"{self._start}/{below}"
        try:
            with os.scandir(folder) as scan:
                entries = sorted(scan, key=_name)
        except OSError:
            self.unreadable += 1
            return []
        names = {entry.name for entry in entries}
        prefix = self._base + below
        if ".git" in names:
            stack = ()
        if ".gitignore" in names:
            stack = _with_rules(stack, f"{folder}.gitignore", len(prefix))
        listed: list[tuple[Found, IgnoreStack | None]] = []
        for entry in entries:
            name = entry.name
            kind = _kind(entry)
            if kind is None or name == ".git":
                continue
            is_folder = kind == "folder"
            if stack and is_ignored(stack, prefix + name, name, is_folder=is_folder):
                self.left_out += 1
                continue
            listed.append((Found(below + name, kind), stack if is_folder else None))
        return listed


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _kind(entry: os.DirEntry[str]) -> Kind | None:
    try:
        if entry.is_symlink():
            return "link"
        if entry.is_dir(follow_symlinks=False):
            return "folder"
        return "file" if entry.is_file(follow_symlinks=False) else None
    except OSError:
        return None


def _top_of(start: Path, project: Path) -> Path:
    """From where on .gitignore files count for a walk that starts here."""
    for folder in (start, *start.parents):
        if os.path.lexists(folder / ".git"):
            return folder
    return project if start.is_relative_to(project) else start


def _with_rules(stack: IgnoreStack, file: str, skip: int) -> IgnoreStack:
    """The stack with a .gitignore on top, if it is a regular file; git takes no link for one."""
    try:
        fd = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return stack
    with os.fdopen(fd, "rb") as opened:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return stack
        return (*stack, IgnoreLevel(IgnoreFile(opened.read(MAX_IGNORE_BYTES)), skip))
