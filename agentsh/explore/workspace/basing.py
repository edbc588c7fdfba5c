"""The base: a folder frozen as it is, and the workspaces that are copied from it.

One base serves all branches of its folder: `files/` is the copy, a commit of the store holds it,
and its index tells what a branch changed. What is saved in the folder later is seen by no branch.
Read next: capture.py, private_git.py.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from agentsh.errors import ToolFailedError, UsageError
from agentsh.explore.workspace.capture import ResultStore
from agentsh.explore.workspace.copying import copy_paths, remove_tree
from agentsh.explore.workspace.earlier import (
    EarlierState,
    at_revision,
    check_out,
    index_again,
    size_of,
    stand_at,
)
from agentsh.explore.workspace.gitcalls import GitCalls
from agentsh.explore.workspace.listing import FolderListing, list_files, repository_of
from agentsh.explore.workspace.private_git import (
    GitFolders,
    git_folders,
    lend_from,
    make_private,
)
from agentsh.explore.workspace.view import WorkspaceView
from agentsh.files import is_folder, is_regular, is_there, read_foreign, write_private
from agentsh.shellwords import shell_word

FILES, LIST, TEMPLATE = "files", "paths", "template"
"""Of a base's folder: the copy, what is in it, and what workspaces get beside it (their `.git`)."""
WORK, HALF = "work", "half"
"""Of a branch's folder: its workspace, and one that is being made."""
_MOST_RULES = 1 << 20
_HEAD_INDEX = "head-index"
_BORROWED = Path("/agentsh-borrowed")
"""Where the template's `.git` says that its objects are; each workspace says its own."""


class FrozenBase(Struct, frozen=True):
    """One base on the disk. `base_folder`: its folder in the exploration's data."""

    base_folder: Path
    root: Path
    """The folder that a workspace stands for: the repository's top, else the folder itself."""
    results: ResultStore
    repository: GitFolders | None = None
    """The person's own."""
    head: str | None = None
    """The revision that workspaces stand at, where that is not the folder's own."""

    @property
    def common(self) -> Path | None:
        """The git folder that all checkouts of the person's repository have in common."""
        return None if self.repository is None else self.repository.common

    @property
    def files(self) -> Path:
        return self.base_folder / FILES

    @property
    def template(self) -> Path:
        return self.base_folder / TEMPLATE

    @property
    def is_whole(self) -> bool:
        """Whether it is all there: a crash may have left a part of it."""
        return is_there(self.base_folder / LIST)

    def freeze_git(self) -> None:
        """Keep the repository as it is now, as all workspaces get it. Raises ToolFailedError."""
        if self.repository is None or is_folder(self.template):
            return
        half = self.base_folder / f"{TEMPLATE}.half"
        remove_tree(half)
        half.mkdir(mode=0o700)
        git = self.results.git
        make_private(git, self.repository, half / ".git", _BORROWED)
        if self.head is not None:
            ask = ("for-each-ref", f"--merged={self.head}", "--format=%(objectname) %(refname)")
            refs = git.read(self.root, *ask)
            stand_at(half / ".git", self.head, self.base_folder / _HEAD_INDEX, refs)
        else:
            _link_submodules(git, self.root, half)
        half.rename(self.template)

    def view(
        self, program: str, branch: Path, shared: Sequence[Path], own: Sequence[Path]
    ) -> WorkspaceView:
        """How the processes of that branch see it."""
        lent = [(path, path) for path in shared]
        if self.common is not None:
            lent.insert(0, (self.common, branch / "borrowed"))
        kept = tuple(path for path in own if path.is_relative_to(self.root))
        return WorkspaceView(program, branch / WORK, self.root, tuple(lent), kept)


def lay_out_workspace(
    base_folder: Path,
    branch: Path,
    borrowed: Path,
    finish: Callable[[Path], None] = lambda _: None,
) -> None:
    """Make a branch's workspace of a base's folder, if it is not there. Raises OSError.

    `borrowed`: where its processes see the objects that it borrows. It has its name once it is
    whole and `finish` is through with it: what a crash left of one is begun anew.
    """
    work, half = branch / WORK, branch / HALF
    branch.mkdir(mode=0o700, exist_ok=True)
    if is_folder(work):
        return
    remove_tree(half)
    half.mkdir(mode=0o700)
    if is_folder(base_folder / TEMPLATE):
        (branch / "borrowed").mkdir(mode=0o700, exist_ok=True)
        shutil.copytree(base_folder / TEMPLATE, half, symlinks=True, dirs_exist_ok=True)
        lend_from(half / ".git", _BORROWED, borrowed)
    paths = [path for path in (base_folder / LIST).read_bytes().split(b"\0") if path]
    copy_paths(base_folder / FILES, half, paths)
    finish(half)
    half.rename(work)


def must_be_project(folder: Path, home: Path, own: Sequence[Path]) -> None:
    """Raises UsageError for a home folder, the root, or agentsh's own."""
    if folder in (Path("/"), home):
        raise UsageError(
            f"{folder} is your home folder or the root, and no project",
            hint="start in a project's folder",
        )
    try:
        os.fsencode(folder).decode("utf-8")
    except UnicodeDecodeError as e:
        raise UsageError(f"{folder}: a name that is no UTF-8 cannot be explored") from e
    if any(folder.is_relative_to(path) for path in own):
        raise UsageError(f"{folder} is agentsh's own folder, and no project")


def must_be_repository(git: GitCalls, folder: Path, home: Path, own: Sequence[Path]) -> None:
    """What a repository's top is, or its settings say, is held to the same.

    Raises UsageError: as of a folder, or the working tree is said to be somewhere else.
    """
    top = repository_of(git, folder)
    if top is None:
        return
    _must_be_safe(git, top)
    must_be_project(top, home, own)
    if not folder.is_relative_to(top) or not is_there(top / ".git"):
        raise UsageError(
            f"the repository of {folder} has its files at {top} (core.worktree)",
            hint="explore works where .git lies at the top of the files",
        )


def _must_be_safe(git: GitCalls, top: Path) -> None:
    """Somebody else's repository is taken where the person's own git takes it."""
    if os.lstat(top).st_uid == os.geteuid():
        return
    try:
        git.as_the_person(top, "rev-parse", "--git-dir")
    except ToolFailedError as e:
        raise UsageError(
            f"{top} belongs to another user, and git does not take it",
            hint=f"git config --global --add safe.directory {shell_word(str(top))}",
        ) from e


def freeze_folder(
    git: GitCalls,
    folder: Path,
    base_folder: Path,
    store: Path,
    *,
    brought: Sequence[Path],
    lent: Sequence[Path],
    own: Sequence[Path],
    branches: int,
    earlier: EarlierState | None = None,
) -> tuple[FrozenBase, FolderListing, str]:
    """Freeze that folder into `base_folder`; the base, what it holds and its commit.

    `earlier`: a state of it to be taken instead; of the folder as it is then comes the rest.
    `brought`: ignored files that are copied, `lent`: those that branches see where they are.
    `branches`: how many copies stand at once. Raises UsageError (no room), OSError,
    ToolFailedError.
    """
    listing = list_files(git, folder, brought, own, lent)
    if earlier is not None:
        size = size_of(git, store, earlier) + (0 if earlier.is_head else listing.size)
        listing = replace(listing, paths=_beside(listing, earlier, brought), size=size)
    base_folder.mkdir(mode=0o700, parents=True)
    _must_have_room(base_folder, branches, listing.size)
    files = base_folder / FILES
    files.mkdir(mode=0o700)
    copied = copy_paths(listing.root, files, listing.paths)
    if earlier is not None:
        index = base_folder / _HEAD_INDEX
        copied = tuple(sorted({*copied, *check_out(git, store, files, index, earlier)}))
        listing = replace(listing, paths=copied, size=_size(files, copied))
    write_private(base_folder / LIST, b"\0".join(copied))
    repository = git_folders(git, listing.root) if listing.is_repository else None
    results = ResultStore(git, store, base_folder / "index")
    commit = results.begin(files, _recordable(files, copied), _rules(git, repository))
    head = earlier.commit if earlier is not None and earlier.is_head else None
    frozen = FrozenBase(base_folder, listing.root, results, repository, head)
    frozen.freeze_git()
    return frozen, listing, commit


def _must_have_room(base_folder: Path, branches: int, size: int) -> None:
    room, bytes_needed = shutil.disk_usage(base_folder).free, (branches + 1) * size
    if room < bytes_needed:
        raise UsageError(
            f"not enough room: {branches} branches at once and the base need {bytes_needed} bytes,"
            f" {room} are free at {base_folder}",
            hint="-j says how many branches run at once",
        )


def opened_base(
    git: GitCalls,
    root: Path,
    base_folder: Path,
    store: Path,
    commit: str,
    *,
    is_repository: bool,
    head: str | None,
) -> FrozenBase:
    """A base that an earlier process froze; made again where it is gone, or never was whole.

    Raises ToolFailedError: the repository is gone; OSError.
    """
    repository = git_folders(git, root) if is_repository else None
    results = ResultStore(git, store, base_folder / "index")
    base = FrozenBase(base_folder, root, results, repository, head)
    if base.is_whole:
        base.freeze_git()  # of a time when bases had none
        return base
    return _thawed(base, commit)


def _thawed(base: FrozenBase, commit: str) -> FrozenBase:
    """Make a base again, from its commit; times and empty folders are lost."""
    remove_tree(base.base_folder)
    base.files.mkdir(mode=0o700, parents=True)
    results = base.results
    run = results.git.store
    run(results.store, base.files, results.index, "read-tree", commit)
    run(results.store, base.files, results.index, "checkout-index", "-a", "-q", "-u")
    listed = run(results.store, base.files, results.index, "ls-files", "-z")
    if base.head is not None:
        state = at_revision(results.git, base.root, base.head)
        index = base.base_folder / _HEAD_INDEX
        index_again(results.git, results.store, base.files, index, state)
    base.freeze_git()
    write_private(base.base_folder / LIST, listed.rstrip(b"\0"))
    return base


def _beside(
    listing: FolderListing, earlier: EarlierState, brought: Sequence[Path]
) -> tuple[bytes, ...]:
    """Of the folder as it is: what was named, and what an earlier state says nothing of."""
    named = [os.fsencode(path.relative_to(listing.root)) for path in brought]
    apart = [] if earlier.is_head else [path + b"/" for path in listing.submodules]
    below = os.fsencode(f"{earlier.below}/") if earlier.below else b""
    return tuple(
        path
        for path in listing.paths
        if path in named
        or path.startswith((*(each + b"/" for each in named), *apart))
        or not (earlier.is_head or path.startswith(below))
    )


def _size(files: Path, paths: Sequence[bytes]) -> int:
    top = os.fsencode(files) + b"/"
    stats = (os.lstat(top + path) for path in paths)
    return sum(each.st_size for each in stats if stat.S_ISREG(each.st_mode))


def _recordable(files: Path, paths: Sequence[bytes]) -> list[bytes]:
    """A commit holds no empty folders."""
    top = os.fsencode(files) + b"/"
    return [p for p in paths if os.path.islink(top + p) or not os.path.isdir(top + p)]  # noqa: PTH112, PTH114


def _rules(git: GitCalls, repository: GitFolders | None) -> bytes:
    """The person's ignore rules that lie outside the folder's own .gitignore files."""
    own = None if repository is None else repository.common / "info" / "exclude"
    files = (git.excludes, own)
    rules = [
        read_foreign(file, _MOST_RULES) for file in files if file is not None and is_regular(file)
    ]
    return b"\n".join([b".agentsh-*.tmp", *rules, b""])


def _link_submodules(git: GitCalls, root: Path, work: Path) -> None:
    """The `.git` files of submodules lead into the workspace's own `.git`, as they did outside."""
    try:
        staged = git.read(root, "ls-files", "-z", "--cached", "--stage")
    except ToolFailedError:
        return
    for row in staged.split(b"\0"):
        head, _, path = row.partition(b"\t")
        link = root / os.fsdecode(path) / ".git"
        if head.startswith(b"160000") and is_regular(link):
            target = work / os.fsdecode(path)
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(link, target / ".git")
