"""Where git's HEAD stands, and stood: read from git's own files. No process, no write.

`.git` is a folder, or a file that names one (a worktree, a submodule); branches lie beside the
worktrees, each in a file or in `packed-refs`. What is not spelled as git spells it, or is kept in
another form (reftable), is not known. What HEAD went through stands in its log, if git keeps one.
Source: git's gitrepository-layout(5).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from msgspec import Struct

from agentsh.files import is_folder, is_there, read_end, read_foreign

_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BRANCH: Final = re.compile(r"refs/heads/([^\x00-\x20\x7f~^:?*\[\\]{1,255})")
_MOST_OF_A_REF: Final = 4096
_MOST_PACKED: Final = 8 << 20
_LOG: Final = "logs/HEAD"
_MOST_OF_A_LOG: Final = 1 << 20
_MOST_MOVES: Final = 256


class GitHead(Struct, frozen=True):
    """What HEAD says. `branch` is None where it is detached, `commit` before the first one.

    Both are None where nothing is known.
    """

    commit: str | None = None
    branch: str | None = None


def read_git_head(folder: Path) -> GitHead:
    """The HEAD of the repository that a folder lies in; nothing known where it lies in none."""
    try:
        return _git_head_of(_git_folder(folder))
    except (OSError, ValueError):  # what cannot be read is not known
        return GitHead()


def head_log_size(folder: Path) -> int:
    """The bytes of HEAD's log; 0 where there is none."""
    try:
        return (_git_folder(folder) / _LOG).stat().st_size
    except (OSError, ValueError):
        return 0


def commits_logged(folder: Path, since: int) -> tuple[str, ...]:
    """The newest commits that HEAD went to since its log had that size, oldest first."""
    try:
        log = _git_folder(folder) / _LOG
        grown = log.stat().st_size - since
        data = read_end(log, min(grown, _MOST_OF_A_LOG)) if grown > 0 else b""
    except (OSError, ValueError):
        return ()
    lines = data.splitlines()[-_MOST_MOVES:]
    said = (line.split(b" ", 2)[1].decode(errors="replace") for line in lines if b" " in line)
    return tuple(commit for commit in said if _COMMIT.fullmatch(commit))


def _git_folder(folder: Path) -> Path:
    """Where HEAD of the repository is that a folder lies in. Raises OSError, ValueError."""
    above = (folder, *folder.parents)
    dot_git = next((p / ".git" for p in above if is_there(p / ".git")), None)
    if dot_git is None:
        raise FileNotFoundError(folder / ".git")
    return dot_git if is_folder(dot_git) else _named(dot_git, "gitdir: ")


def _git_head_of(own: Path) -> GitHead:
    """Raises OSError, ValueError."""
    common = own
    if is_there(own / "commondir"):
        common = _named(own / "commondir", "")
    said = _line(own / "HEAD")
    if _COMMIT.fullmatch(said):
        return GitHead(said)
    branch = _BRANCH.fullmatch(said.removeprefix("ref: "))
    if branch is None or any(part.startswith(".") for part in branch[1].split("/")):
        return GitHead()  # reftable says `.invalid`
    return GitHead(_commit_of(common, branch[0]), branch[1])


def _named(file: Path, before: str) -> Path:
    """The folder that a file of git's names, from where it lies."""
    line = _line(file)
    if not line.startswith(before) or line == before:
        raise ValueError(f"{file} names no folder")
    return file.parent / line.removeprefix(before)


def _line(file: Path) -> str:
    """Of a folder's name git keeps the bytes."""
    data = read_foreign(file, _MOST_OF_A_REF)
    return data.decode(errors="surrogateescape").rstrip("\n")


def _commit_of(common: Path, name: str) -> str | None:
    """The commit of a branch; None before its first one. A file of its own is newer."""
    try:
        said = _line(common / name)
    except FileNotFoundError:
        said = _packed(common, name)
    return said if _COMMIT.fullmatch(said) else None


def _packed(common: Path, name: str) -> str:
    try:
        data = read_foreign(common / "packed-refs", _MOST_PACKED)
    except FileNotFoundError:
        return ""
    for line in data.splitlines():
        commit, _, named = line.partition(b" ")
        if named == name.encode():
            return commit.decode(errors="replace")
    return ""
