"""A branch's own `.git`: same HEAD, refs, index and settings; objects borrowed, read-only.

What the branch does with git (commits, stashes, gc, hooks) stays in it. The person's objects are
named as alternates at a mount point, since in the view the folder's own `.git` is covered by this
one (view.py); with `lend_from` that of a kept workspace points at the person's own place.
Read next: view.py.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from agentsh.errors import ToolFailedError
from agentsh.explore.workspace.gitcalls import GitCalls
from agentsh.files import (
    NotRegularError,
    TooLargeError,
    is_folder,
    is_regular,
    read_foreign,
)

_COPIED = (
    "HEAD", "packed-refs", "shallow", "index", "config.worktree",
    "info/exclude", "info/attributes", "info/sparse-checkout",
)  # fmt: skip
_COMMON = ("packed-refs", "shallow", "info/exclude", "info/attributes")
_MERGING = ("MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "ORIG_HEAD")
_BEGUN = ("rebase-merge", "rebase-apply")
_MOST_BYTES = 1 << 24
"""Of a text of git's own; what is larger is none."""
UNFINISHED = (*_MERGING, *_BEGUN)
"""What of a repository says that something was begun there."""
_DROPPED = (
    "core.hooksPath", "core.fsmonitor", "core.untrackedCache", "core.worktree", "core.bare",
)  # fmt: skip


class GitFolders(Struct, frozen=True):
    """Where a repository keeps what: `own` is this checkout's, `common` all checkouts'."""

    own: Path
    common: Path


def git_folders(git: GitCalls, root: Path) -> GitFolders:
    """Raises ToolFailedError."""
    said = git.read(root, "rev-parse", "--absolute-git-dir", "--git-common-dir")
    own, common = (os.fsdecode(line) for line in said.rstrip(b"\n").split(b"\n"))
    return GitFolders(Path(own), Path(os.path.realpath(root / common)))


def make_private(git: GitCalls, folders: GitFolders, target: Path, borrowed: Path) -> None:
    """Make `target` (a workspace's `.git`) of that repository.

    `borrowed`: where the person's common folder can be seen by the branch. Raises OSError,
    ToolFailedError.
    """
    _copy_repository(git, folders, target, borrowed / "objects")
    for module in _modules(folders.common / "modules"):
        inside = module.relative_to(folders.common)
        module_folders = GitFolders(module, module)
        _copy_repository(git, module_folders, target / inside, borrowed / inside / "objects")


def lend_from(target: Path, borrowed: Path, common: Path) -> None:
    """Let a workspace that is kept borrow from the person's own place, outside of the view."""
    if not is_folder(target, follow=False):
        return  # the branch took it away, or put something else there
    for folder, _, names in os.walk(target):
        file = Path(folder) / "alternates"
        if file.name in names and file.parts[-3:-1] == ("objects", "info"):
            _point_elsewhere(file, borrowed, common)


def _point_elsewhere(file: Path, borrowed: Path, common: Path) -> None:
    """A branch may have made anything of it: only a regular file is read, and none written to."""
    try:
        text = read_foreign(file, _MOST_BYTES, follow=False)
    except (NotRegularError, TooLargeError):
        return
    text = text.replace(os.fsencode(borrowed), os.fsencode(common))
    file.unlink()
    with file.open("xb") as writing:
        writing.write(text)


def _copy_repository(git: GitCalls, source: GitFolders, target: Path, objects: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name in _COPIED + _MERGING:
        folder = source.common if name in _COMMON else source.own
        _copy(folder / name, target / name)
    for kind in ("refs", *_BEGUN, "logs"):
        folder = source.common if kind == "refs" else source.own
        if is_folder(folder / kind):
            shutil.copytree(folder / kind, target / kind, symlinks=True, dirs_exist_ok=True)
    (target / "refs").mkdir(exist_ok=True)
    (target / "objects" / "info").mkdir(parents=True, exist_ok=True)
    (target / "objects" / "info" / "alternates").write_bytes(os.fsencode(objects) + b"\n")
    _copy(source.common / "config", target / "config")
    for name in ("config.worktree", "config"):
        _drop_settings(git, target / name)
    believe_times(target / "config")


def _drop_settings(git: GitCalls, config: Path) -> None:
    """Those that lead elsewhere; each is a git process, so only what the text may hold is asked."""
    text = read_foreign(config, _MOST_BYTES).lower() if is_regular(config) else b""
    text = text.replace(b"bare = false", b"")  # as git writes it: nothing to drop
    for name in _DROPPED:
        if name.rpartition(".")[2].lower().encode() not in text:
            continue
        try:  # from outside: what is to be dropped would be heeded inside
            git.read(Path("/"), "config", "--file", str(config), "--unset-all", name)
        except ToolFailedError:
            continue  # it was not set


def believe_times(config: Path) -> None:
    """Let git of those settings believe an index that was copied: of a key the last one counts."""
    with config.open("ab") as writing:
        writing.write(b"\n[core]\n\tcheckStat = minimal\n\ttrustctime = false\n")


def _copy(source: Path, target: Path) -> None:
    if is_regular(source):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def _modules(folder: Path) -> Iterator[Path]:
    """The git folders of submodules, nested ones too."""
    if not is_folder(folder):
        return
    for each in sorted(folder.iterdir()):
        if is_regular(each / "HEAD"):
            yield each
            yield from _modules(each / "modules")
        elif is_folder(each):
            yield from _modules(each)
