"""A base that is not the folder as it is now: a git revision, or a state that a session recorded.

Its files come out of objects that lie elsewhere, which are only read: through our own store, so
that no filter, line ending or setting of the person's takes part. A workspace of a revision stands
at it with its own git, too. Read next: basing.py.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from agentsh.errors import ToolFailedError
from agentsh.explore.workspace.gitcalls import GitCalls
from agentsh.explore.workspace.private_git import UNFINISHED, git_folders
from agentsh.files import is_folder, is_there
from agentsh.tools.undo.shadow import Shadow, state_name
from agentsh.tools.undo.statenotes import Modes, notes_of
from agentsh.tools.undo.storefiles import lay_out, objects_aside

_LINK, _MODULE, _PROGRAM = b"120000", b"160000", b"100755"
_USUAL = Modes(0o644, 0o755, {})


class EarlierState(Struct, frozen=True):
    """`objects`: where what it holds is found. `below`: the folder it is of, from the root on.

    `is_head`: a revision, which takes the place of all files that git knows.
    """

    commit: str
    objects: tuple[Path, ...]
    below: str = ""
    modes: Modes = _USUAL
    is_head: bool = False


def revision_named(git: GitCalls, folder: Path, word: str) -> str | None:
    """The commit that a word means in the repository of a folder; None: it means none there."""
    wanted_words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{word}^{{commit}}")
    try:
        return git.read(folder, *wanted_words).decode("ascii").strip()
    except (ToolFailedError, UnicodeDecodeError):
        return None


def at_revision(git: GitCalls, root: Path, commit: str) -> EarlierState:
    """Raises ToolFailedError: `root` is in no repository."""
    return EarlierState(commit, (git_folders(git, root).common / "objects",), is_head=True)


def as_recorded(git: GitCalls, root: Path, folder: Path, states: Path, commit: str) -> EarlierState:
    """The state `commit` of `folder`, out of the store of its states. Raises ToolFailedError."""
    commit = state_name(commit)
    modes = notes_of(Shadow(states, folder, git.environ), commit).modes
    below = str(folder.relative_to(root))
    objects = (states / "objects", *objects_aside(states))
    return EarlierState(commit, objects, "" if below == "." else below, modes or _USUAL)


def size_of(git: GitCalls, store: Path, state: EarlierState) -> int:
    """Bytes of its files. Raises ToolFailedError: it is not there any more."""
    run = _running(git, store, store, store / "index", state)
    rows = run("ls-tree", "-r", "-l", "-z", state.commit).split(b"\0")
    sizes = (row.partition(b"\t")[0].split()[-1] for row in rows if row)
    return sum(int(size) for size in sizes if size.isdigit())


def check_out(
    git: GitCalls, store: Path, files: Path, index: Path, state: EarlierState
) -> list[bytes]:
    """Make its files, and `index` git's list of them; their paths, from `files` on.

    A submodule is none of them. Raises ToolFailedError, OSError.
    """
    tree = files / state.below
    tree.mkdir(mode=0o700, parents=True, exist_ok=True)
    run = _running(git, store, tree, index, state)
    run("read-tree", state.commit)
    run("checkout-index", "-a", "-f", "-q", "-u")
    top = os.fsencode(tree) + b"/"
    prefix = os.fsencode(f"{state.below}/") if state.below else b""
    paths = []
    for row in run("ls-files", "-z", "--stage").split(b"\0"):
        head, _, path = row.partition(b"\t")
        kind = head[:6]
        if not path or kind == _MODULE:
            continue
        if kind != _LINK:
            mode = state.modes.of(path, is_program=kind == _PROGRAM)
            os.chmod(top + path, mode)  # noqa: PTH101 - names need not be text
        paths.append(prefix + path)
    return paths


def index_again(git: GitCalls, store: Path, files: Path, index: Path, state: EarlierState) -> None:
    """Git's list of a state whose files are there already. Raises ToolFailedError."""
    run = _running(git, store, files, index, state)
    run("read-tree", state.commit)
    run("update-index", "-q", "--ignore-missing", "--refresh")


def stand_at(own: Path, commit: str, index: Path, refs: bytes) -> None:
    """Let a workspace's own git stand at that commit, with nothing begun. Raises OSError.

    `refs`: rows of object and name, those that lead to nothing later than the commit: what came of
    it is no part of the task. Reflogs know it, too.
    """
    for name in ("refs", "logs"):
        if is_folder(own / name):
            shutil.rmtree(own / name)
    (own / "refs").mkdir()
    (own / "packed-refs").unlink(missing_ok=True)
    (own / "packed-refs").write_bytes(refs)
    (own / "HEAD").unlink(missing_ok=True)
    (own / "HEAD").write_text(f"{commit}\n", "ascii")
    shutil.copy2(index, own / "index")
    for name in UNFINISHED:
        if is_folder(own / name, follow=False):
            shutil.rmtree(own / name)
        else:
            (own / name).unlink(missing_ok=True)


def _running(
    git: GitCalls, store: Path, tree: Path, index: Path, state: EarlierState
) -> Callable[..., bytes]:
    """Git on our store, which finds the state's objects as well."""
    if not is_there(store / "HEAD"):  # or else what it was told of times would be lost
        store.mkdir(mode=0o700, parents=True, exist_ok=True)
        lay_out(store)
    folders = os.pathsep.join(map(str, state.objects))
    reading = replace(git, environ={**git.environ, "GIT_ALTERNATE_OBJECT_DIRECTORIES": folders})
    return partial(reading.store, store, tree, index)
