"""Bring the working folder back to a checkpoint: preview first, conflicts never overwritten.

Before anything is touched the present state is recorded too, so that going back can be undone. A
file is in conflict when somebody else changed it after the agent's last known state (`last`) or
earlier (`foreign`), or when something that no checkpoint holds (an ignored or a large file) is in
its way; it is left alone unless `overwrite` says otherwise. Read next: checkpoint.py.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Literal, TypeAlias

from msgspec import Struct

from agentsh.tools.checkpoint import left_out_of, odd_modes, take
from agentsh.tools.shadow import Shadow

Kind: TypeAlias = Literal["create", "change", "delete"]
_KINDS: dict[str, Kind] = {"A": "create", "D": "delete"}


class Change(Struct, frozen=True):
    """What is to happen to one path (relative to the folder). `conflict`: why it is not done."""

    path: str
    kind: Kind
    conflict: str | None = None


class Preview(Struct, frozen=True):
    """`now` is the commit of the present state, taken for this."""

    now: str
    changes: tuple[Change, ...]


class Restored(Struct, frozen=True):
    """`saved` is the state before, to go back to; `skipped` are the conflicts."""

    saved: str
    done: tuple[Change, ...]
    skipped: tuple[Change, ...]


def preview(
    shadow: Shadow, commit: str, *, last: str | None = None, foreign: Collection[str] = ()
) -> Preview:
    """What `restore` would do. Writes to the store only. Raises ToolFailedError."""
    with shadow.locked():
        return _preview(shadow, commit, last, foreign)


def restore(
    shadow: Shadow,
    commit: str,
    *,
    last: str | None = None,
    foreign: Collection[str] = (),
    overwrite: bool = False,
) -> Restored:
    """Make the folder as it was at `commit`. Raises ToolFailedError.

    `last` is the checkpoint taken when the agent had last changed something: what differs from it
    now is somebody else's work, and so are the paths in `foreign`.
    """
    with shadow.locked():
        found = _preview(shadow, commit, last, foreign)
        wanted = [c for c in found.changes if overwrite or c.conflict is None]
        _remove(shadow.tree, [c.path for c in wanted if c.kind == "delete"])
        _bring_back(shadow, commit, [c.path for c in wanted if c.kind != "delete"])
    skipped = tuple(c for c in found.changes if c not in wanted)
    return Restored(found.now, tuple(wanted), skipped)


def difference(shadow: Shadow, old: str, new: str) -> tuple[Change, ...]:
    """Which files two checkpoints have different."""
    return tuple(_difference(shadow, old, new))


def patch(shadow: Shadow, old: str, new: str) -> str:
    """The same as a patch."""
    made = shadow.git("diff-tree", "-r", "-p", "--no-renames", "--no-ext-diff", old, new)
    return made.decode("utf-8", "replace")


def _preview(shadow: Shadow, commit: str, last: str | None, foreign: Collection[str]) -> Preview:
    now = take(shadow).commit
    theirs = set(foreign)
    if last is not None:
        theirs.update(c.path for c in _difference(shadow, last, now))
    wanted = [c for c in _difference(shadow, now, commit) if not shadow.is_apart(c.path)]
    going = {c.path for c in wanted if c.kind == "delete" and c.path not in theirs}
    hidden = _hidden(going, left_out_of(shadow, commit)) if going else frozenset()
    going -= hidden
    changes = []
    for change in wanted:
        why = None
        if change.path in theirs:
            why = "changed by somebody else since"
        elif change.path in hidden:
            why = "it was there before, ignored or large, and so not recorded"
        elif change.kind == "create":
            why = _in_the_way(shadow.tree, change.path, going)
        changes.append(Change(change.path, change.kind, why))
    return Preview(now, tuple(changes))


def _difference(shadow: Shadow, old: str, new: str) -> list[Change]:
    """What makes the first state the second one."""
    rows = shadow.git("diff-tree", "-r", "-z", "--no-renames", "--name-status", old, new)
    words = os.fsdecode(rows).split("\0")
    pairs = zip(words[0::2], words[1::2], strict=False)
    return [Change(path, _KINDS.get(kind, "change")) for kind, path in pairs]


def _hidden(paths: Collection[str], left_out: Collection[str]) -> frozenset[str]:
    """Those of `paths` that were there, though not recorded: themselves, or a folder of theirs."""
    known = {name.rstrip("/") for name in left_out}
    return frozenset(
        path
        for path in paths
        if path in known or any(str(parent) in known for parent in PurePosixPath(path).parents)
    )


def _in_the_way(tree: Path, path: str, going: set[str]) -> str | None:
    """Something where a file is to be made that no checkpoint holds, and that would be lost."""
    place = tree / path
    if _is_folder(place):
        for folder, _, names in os.walk(place):
            inside = (os.path.relpath(f"{folder}/{name}", tree) for name in names)
            lost = next((name for name in inside if name not in going), None)
            if lost is not None:
                return f"{lost} is in the way, and checkpoints leave it out"
        return None
    if os.path.lexists(place):
        return "there is a file that checkpoints leave out (ignored or large)"
    for parent in place.parents:
        if parent == tree:
            break
        name = str(parent.relative_to(tree))
        if os.path.lexists(parent) and not _is_folder(parent) and name not in going:
            return f"{name} is in the way, and it stays"
    return None


def _is_folder(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink()


def _remove(tree: Path, paths: Sequence[str]) -> None:
    """Delete files, and the folders that became empty by it."""
    for path in paths:
        place = tree / path
        with suppress(FileNotFoundError):
            place.unlink()
        for parent in place.parents:
            if parent == tree:
                break
            try:
                parent.rmdir()
            except OSError:
                break  # not empty


def _bring_back(shadow: Shadow, commit: str, paths: Sequence[str]) -> None:
    """Write files as the commit has them; existing ones keep what git does not know of a mode."""
    if not paths:
        return
    modes = odd_modes(shadow.store)
    before = {path: _mode(shadow.tree / path) for path in paths}
    index = shadow.store / f"restore-{secrets.token_hex(8)}"
    try:
        shadow.git("read-tree", commit, index=index)
        data = b"\0".join(map(os.fsencode, paths)) + b"\0"
        shadow.git("checkout-index", "-f", "-z", "--stdin", data=data, index=index)
    finally:
        index.unlink(missing_ok=True)
    for path in paths:
        place = shadow.tree / path
        now, mode = _mode(place), before[path] or modes.get(path)
        if now is not None and mode is not None:
            runs = 0o111 & (mode >> 2) if now & 0o100 else 0
            place.chmod((mode & ~0o111) | runs)


def _mode(place: Path) -> int | None:
    """The mode of a regular file that is no link."""
    with suppress(OSError):
        found = place.lstat()
        if stat.S_ISREG(found.st_mode):
            return stat.S_IMODE(found.st_mode)
    return None
