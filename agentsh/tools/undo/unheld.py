"""What the agent overwrote and no state holds: it cannot be brought back, and must be named.

The record of calls says which files the agent was about to write, and what they were before its
first write after a state. Those that a
state holds are undo's; of the others (ignored, large, in a nested repository, outside of the
folder) only this can be told: whether they are still, or again, as they were. Reads the store and
those files. Read next: undo.py, agent/files/filestates.py.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from agentsh.errors import GitRefusedError
from agentsh.files import open_regular
from agentsh.tools.base import PreImage
from agentsh.tools.files import anchored
from agentsh.tools.ledger import MOST_HASHED
from agentsh.tools.undo.checkpoint import MAX_FILE
from agentsh.tools.undo.restoring import ChangeKind
from agentsh.tools.undo.shadow import Shadow, run_git

_AT_ONCE = 200
_IGNORED = "ignored, so what it was is not recorded"
_ALWAYS_IGNORED = ".agentsh-.tmp"
"""By the rules of each store: git's exit code is 1 where nothing that is asked about is ignored."""


class Lost(Struct, frozen=True):
    """A file that is not as it was, and that no state can bring back."""

    path: str
    kind: ChangeKind
    reason: str


def unheld(
    shadow: Shadow,
    commits: Sequence[str],
    known_names: Collection[str],
    before: Iterable[PreImage],
) -> list[Lost]:
    """Those of `before` that none of the states holds and that are something else now.

    `known_names` are paths, relative to the folder, that the states are known to differ in.
    """
    names = {each: name_in(shadow.tree, each.path) for each in before}
    asked = {each: name for each, name in names.items() if name not in known_names}
    held = held_by(shadow, commits, [n for n in asked.values() if not n.startswith("/")])
    lost = []
    for each, name in asked.items():
        kind = None if name in held else _how(each)
        if kind is not None:
            lost.append(Lost(name, kind, reason_of(shadow, each)))
    return lost


def not_held(shadow: Shadow, commits: Sequence[str], files: Iterable[PreImage]) -> tuple[str, ...]:
    """The path and the reason of each file that none of the states holds.

    What was not there before, and would have been recorded, was made and is gone again: no state
    lacks it.
    """
    names = {each: name_in(shadow.tree, each.path) for each in files}
    held = held_by(shadow, commits, [n for n in names.values() if not n.startswith("/")])
    reasons = {each: reason_of(shadow, each) for each, name in names.items() if name not in held}
    made = [
        names[each]
        for each, reason in reasons.items()
        if each.sha256 is None and each.size == 0 and reason == _IGNORED and not _is_large(each)
    ]
    gone = _recordable(shadow, made)
    return tuple(
        f"{names[each]}: {reason}" for each, reason in reasons.items() if names[each] not in gone
    )


def _recordable(shadow: Shadow, names: Sequence[str]) -> set[str]:
    """Those that no ignore rule leaves out; none where git does not say."""
    if not names:
        return set()
    argv, environ, folder = shadow.command("check-ignore", "--no-index", "-z", "--stdin")
    environ["GIT_LITERAL_PATHSPECS"] = "0"  # this one command of git refuses it
    asked = "\0".join(f"./{name}" for name in (*names, _ALWAYS_IGNORED))
    try:
        listed = run_git(
            argv, environ, data=os.fsencode(asked), cwd=folder, abort=shadow.abort, umask=0o077
        )
    except GitRefusedError:
        return set()  # then each is named
    return set(names) - {each.removeprefix("./") for each in os.fsdecode(listed).split("\0")}


def _is_large(file: PreImage) -> bool:
    """Whether it is there now, and too large for a state."""
    status = anchored.status_of(Path(file.path))
    return status is not None and status.st_size > MAX_FILE


def name_in(tree: Path, path: str) -> str:
    """Relative to the folder where it lies in it, as states name it."""
    return os.path.relpath(path, tree) if path.startswith(f"{tree}/") else path


def held_by(shadow: Shadow, commits: Iterable[str], names: Sequence[str]) -> set[str]:
    """Those of the paths that one of the states holds."""
    held: set[str] = set()
    for commit in dict.fromkeys(commits):
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            listed = shadow.look(
                "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, "--", *some
            )
            held.update(os.fsdecode(listed).split("\0"))
    return held


def reason_of(shadow: Shadow, file: PreImage) -> str:
    """Why no state holds it."""
    path = Path(file.path)
    if not path.is_relative_to(shadow.tree):
        return "outside of the folder, so what it was is not recorded"
    if shadow.is_apart(name_in(shadow.tree, file.path)):
        return "agentsh's own, and never brought back"
    inner = [p for p in path.parents if p != shadow.tree and p.is_relative_to(shadow.tree)]
    if any(os.path.lexists(folder / ".git") for folder in inner):
        return "in a repository of its own, so what it was is not recorded"
    if file.size > MAX_FILE:
        return "over 5 MB, so what it was is not recorded"
    return _IGNORED


def _how(file: PreImage) -> ChangeKind | None:
    """What would have to be done to it; None: it is as it was."""
    was_there = file.sha256 is not None or file.size > 0
    try:
        now = _digest(Path(file.path))
    except OSError:
        return "change"  # nobody can tell
    if now is None:
        return "create" if was_there else None
    if not was_there:
        return "delete"
    return None if now == file.sha256 else "change"


def _digest(path: Path) -> str | None:
    """The digest of a regular file.

    It is "" for anything else and for what is too large, None where nothing is there.
    """
    status = anchored.status_of(path)
    if status is None:
        return None
    if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_HASHED:
        return ""
    with anchored.parent_of(path) as folder:
        handle = open_regular(path.name, follow=False, folder=folder)
    with os.fdopen(handle, "rb") as file:
        return hashlib.sha256(file.read(MOST_HASHED + 1)).hexdigest()
