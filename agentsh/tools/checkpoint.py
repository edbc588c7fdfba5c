"""The state of the working folder as a commit in a shadow store: what undo goes back to.

The cost is that of `git status` plus what changed: git's own index of the store tells what that
is. Left out and counted: what the user's ignore rules name, files over 5 MB, nested repositories,
what cannot be read; their names are kept with the state, so that going back to it does not take
them for new. A state without changes is the commit that there is. The user's repository,
its index and its rules are not touched (shadow.py). Going back is undo.py's.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from agentsh.errors import ToolFailedError
from agentsh.tools.shadow import Shadow, write_private

MAX_FILE = 5 * 1024 * 1024
MAX_FILES = 200_000
MAX_TOTAL = 4 * 1024**3
_MODES = "modes.json"
_SHOWN = 20
_LEFT_OUT = "\n\nleft out: "


class Checkpointed(Struct, frozen=True):
    """`commit` holds the state. `left_out` counts what it does not hold; `large` names some."""

    commit: str
    left_out: int = 0
    large: tuple[str, ...] = ()


class _Changes(Struct):
    """What the folder has that the index has not."""

    add: list[bytes] = field(default_factory=list)
    drop: list[bytes] = field(default_factory=list)
    large: list[bytes] = field(default_factory=list)
    left_out: list[bytes] = field(default_factory=list)
    """Paths that are there and not recorded; folders end in a slash."""
    total: int = 0
    modes: dict[str, int] = field(default_factory=dict)


def snapshot(shadow: Shadow) -> Checkpointed:
    """Record the folder's state. Raises ToolFailedError (no git, no room, too much)."""
    with shadow.locked():
        return take(shadow)


def take(shadow: Shadow) -> Checkpointed:
    """As `snapshot`, with the store already locked."""
    shadow.carry_ignore_rules()
    status = shadow.git(
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=all",
        "--ignored=matching",
        "--no-renames",
        "--ignore-submodules=all",
    )
    changes = _changes(shadow, status)
    if len(changes.add) > MAX_FILES or changes.total > MAX_TOTAL:
        raise ToolFailedError(
            f"no checkpoint: {len(changes.add)} new files with {changes.total} bytes are too many"
        )
    if changes.drop:
        shadow.git("update-index", "--force-remove", "-z", "--stdin", data=_list(changes.drop))
    if changes.add:
        words = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
        shadow.git(*words, data=_list(changes.add))
        _remember_modes(shadow.store, changes.modes)
    large = tuple(os.fsdecode(path) for path in changes.large[:_SHOWN])
    left_out = sorted((*changes.left_out, *changes.large))
    head, message = shadow.head(), _message(left_out)
    is_new = changes.add or changes.drop or _is_staged(status)
    if head is not None and not is_new and head.words == message:
        return Checkpointed(head.commit, len(left_out), large)
    if left_out and (head is None or head.words != message):
        shadow.git("hash-object", "-w", "--stdin", data=_list(left_out))
    return Checkpointed(shadow.commit(head, message), len(left_out), large)


def left_out_of(shadow: Shadow, commit: str) -> tuple[str, ...]:
    """What was there at that state and is not held by it; folders end in a slash."""
    words = shadow.git("log", "-1", "--no-decorate", "--format=%B", commit).decode("utf-8")
    _, found, blob = words.strip().partition(_LEFT_OUT)
    if not found:
        return ()
    return tuple(os.fsdecode(p) for p in shadow.git("cat-file", "blob", blob).split(b"\0") if p)


def _message(left_out: list[bytes]) -> str:
    """A commit's message: names the list of what it leaves out, by git's name for its bytes."""
    if not left_out:
        return "checkpoint"
    data = _list(left_out)
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    return f"checkpoint{_LEFT_OUT}{blob}"


def odd_modes(store: Path) -> dict[str, int]:
    """The modes that git cannot keep (0600 and the like), by path."""
    try:
        kept = json.loads((store / _MODES).read_bytes())
    except (OSError, ValueError):
        return {}
    return {str(path): int(mode) for path, mode in kept.items()} if isinstance(kept, dict) else {}


def _changes(shadow: Shadow, status: bytes) -> _Changes:
    changes = _Changes()
    root = os.fsencode(shadow.tree)
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
        _judge(changes, root, kind, path)
    return changes


def _judge(changes: _Changes, root: bytes, kind: bytes, path: bytes) -> None:
    """Put one changed path where it belongs."""
    place = os.path.join(root, path)  # noqa: PTH118 - bytes: names need not be text
    try:
        found = os.lstat(place)
    except OSError:
        changes.add.append(path)  # gone: --remove takes it out of the index
        return
    if stat.S_ISREG(found.st_mode):
        if found.st_size > MAX_FILE:
            changes.large.append(path)
            if kind != b"??":
                changes.drop.append(path)  # an old state of it must not be brought back
            return
        if not os.access(place, os.R_OK):
            changes.left_out.append(path)
            return
        mode = stat.S_IMODE(found.st_mode)
        if mode not in (0o644, 0o755, 0o664, 0o775):
            changes.modes[os.fsdecode(path)] = mode
        changes.total += found.st_size
    changes.add.append(path)


def _is_staged(status: bytes) -> bool:
    """Whether the index holds what no commit does: an earlier snapshot was cut short."""
    return any(row[:1] not in (b" ", b"?", b"!", b"") for row in status.split(b"\0"))


def _remember_modes(store: Path, modes: Mapping[str, int]) -> None:
    if modes:
        known = odd_modes(store) | dict(modes)
        write_private(store / _MODES, json.dumps(known, ensure_ascii=True))


def _list(paths: list[bytes]) -> bytes:
    return b"\0".join(paths) + b"\0"
