"""Which files of a folder a branch is given: all that are no junk, as they lie there now.

In a repository: what git tracks or would track, submodules' files too; ignored ones stay out but
those that were named. Elsewhere: everything but agentsh's own folders. Nothing is followed out of
the folder. Read next: copying.py.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from msgspec import Struct, field

from agentsh.errors import ToolFailedError, UsageError
from agentsh.explore.workspace.gitcalls import GitCalls
from agentsh.files import is_folder

LARGEST_UNTRACKED = 100 * 1024 * 1024
"""An untracked file that is larger is left out, and named."""
_DEPENDENCIES = frozenset((".venv", "venv", "node_modules", "target", "vendor", ".tox"))
_MOST_NAMED = 20


class FolderListing(Struct, frozen=True):
    """Paths below the root, as bytes; `size` is what the files hold together.

    `left_out`: in words. `submodules`: the folders of those that are checked out.
    """

    root: Path
    paths: tuple[bytes, ...]
    size: int
    left_out: tuple[str, ...] = ()
    is_repository: bool = False
    submodules: tuple[bytes, ...] = ()


def repository_of(git: GitCalls, folder: Path) -> Path | None:
    """The top of the repository that a folder lies in; None: it lies in none."""
    try:
        said = git.read(folder, "rev-parse", "--show-toplevel")
    except ToolFailedError:
        return None
    return Path(os.fsdecode(said.rstrip(b"\n")))


def list_files(
    git: GitCalls,
    folder: Path,
    brought: Collection[Path],
    own: Iterable[Path],
    lent: Collection[Path] = (),
) -> FolderListing:
    """What is copied. `brought`: ignored files and folders that somebody named (real paths).

    `own`: agentsh's folders; `lent`: what branches see without a copy. Raises UsageError: a brought
    one is not there.
    """
    top = repository_of(git, folder)
    root = folder if top is None else top
    apart = [os.fsencode(path) + b"/" for path in own]
    taken = _Taken()
    stats = taken.stats
    if top is None:
        _take(root, _walk(root, b""), apart, stats)
    else:
        _take_repository(git, root, b"", apart, taken)
        taken.left_out += _dependencies(git, root, {*brought, *lent})
    for path in brought:
        relative = os.fsencode(path.relative_to(root))
        named = _walk(root, relative) if is_folder(path, follow=False) else iter([relative])
        if not os.path.lexists(path):
            raise UsageError(f"--with {path}: there is no such file or folder")
        _take(root, named, apart, stats)
    size = sum(each.st_size for each in stats.values() if stat.S_ISREG(each.st_mode))
    return FolderListing(
        root,
        tuple(sorted(stats)),
        size,
        tuple(taken.left_out),
        top is not None,
        tuple(taken.submodules),
    )


class _Taken(Struct):
    """What was found so far, in a repository and those within it."""

    stats: dict[bytes, os.stat_result] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    submodules: list[bytes] = field(default_factory=list)


def _take_repository(
    git: GitCalls,
    root: Path,
    prefix: bytes,
    apart: list[bytes],
    taken: _Taken,
) -> None:
    """The files of one repository, `prefix` being its place below the root."""
    here = root / os.fsdecode(prefix)
    staged = git.read(here, "ls-files", "-z", "--cached", "--stage")
    tracked: list[bytes] = []
    for row in filter(None, staged.split(b"\0")):
        head, _, path = row.partition(b"\t")
        if not head.startswith(b"160000"):
            tracked.append(prefix + path)
        elif os.path.lexists(os.fsencode(root) + b"/" + prefix + path + b"/.git"):
            taken.submodules.append(prefix + path)
    _take(root, tracked, apart, taken.stats)
    listed = git.read(here, "ls-files", "-z", "--others", "--exclude-standard")
    others = [prefix + path for path in listed.split(b"\0") if path]
    # a repository that is no submodule is listed as a folder; its files are the person's as well
    nested = [path for path in others if path.endswith(b"/")]
    new: dict[bytes, os.stat_result] = {}
    _take(root, (path for path in others if not path.endswith(b"/")), apart, new)
    for path in nested:
        _take(root, _walk(root, path.rstrip(b"/")), apart, new)
    for path, each in new.items():
        if each.st_size > LARGEST_UNTRACKED and stat.S_ISREG(each.st_mode):
            taken.left_out.append(f"{os.fsdecode(path)} ({each.st_size} bytes, untracked)")
        else:
            taken.stats[path] = each
    for path in tuple(taken.submodules):
        if path.startswith(prefix) and path + b"/" != prefix:
            inner = path + b"/"
            if not any(path_there.startswith(inner) for path_there in taken.stats):
                _take_repository(git, root, inner, apart, taken)


def _dependencies(git: GitCalls, root: Path, named: Collection[Path]) -> Iterator[str]:
    """Ignored folders that look like dependencies, and that nobody named."""
    listed = git.read(
        root, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"
    )
    names = [os.fsdecode(path.rstrip(b"/")) for path in listed.split(b"\0") if path]
    shown = [
        name
        for name in names
        if name.rpartition("/")[2] in _DEPENDENCIES and root / name not in named
    ]
    return (f"{name}/ (ignored; --share {name} lends it)" for name in shown[:_MOST_NAMED])


def _take(
    root: Path,
    paths: Iterable[bytes],
    apart: list[bytes],
    stats: dict[bytes, os.stat_result],
) -> None:
    """Those that are there and are files, links or empty folders."""
    top = os.fsencode(root)
    for path in paths:
        full_path = top + b"/" + path
        if any(full_path.startswith(own) for own in apart):
            continue
        try:
            each = os.lstat(full_path)
        except (FileNotFoundError, NotADirectoryError):
            continue  # deleted: a branch does not see it either
        if stat.S_ISREG(each.st_mode) or stat.S_ISLNK(each.st_mode) or stat.S_ISDIR(each.st_mode):
            stats[path] = each


def _walk(root: Path, below: bytes) -> Iterator[bytes]:
    """All files, links and empty folders below a folder, but git's own."""
    top = os.fsencode(root)
    for folder, folders, files in os.walk(top + b"/" + below if below else top):
        folders[:] = [name for name in folders if name != b".git"]
        for name in list(folders):
            if os.path.islink(folder + b"/" + name):  # noqa: PTH114 - names need not be text
                files.append(name)
                folders.remove(name)
        relative = folder[len(top) + 1 :]
        if not files and not folders and relative:
            yield relative
        for name in files:
            yield relative + b"/" + name if relative else name
