"""A branch's job and its workspace: what a runner is told, and the folder that it is given.

Bases are frozen when an exploration begins, and made again from the store where a resume needs one
that is gone. Read next: basing.py, coordinator.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from agentsh.explore.log.facts import BaseState
from agentsh.explore.log.folder import ExploreFolders, stops_asked
from agentsh.explore.log.state import BranchRow, Exploration
from agentsh.explore.running.lines import BranchJob
from agentsh.explore.workspace.basing import WORK, FrozenBase, lay_out_workspace, opened_base
from agentsh.explore.workspace.capture import CAPTURE_INDEX
from agentsh.explore.workspace.copying import copy_tree, remove_tree
from agentsh.explore.workspace.gitcalls import GitCalls
from agentsh.explore.workspace.private_git import lend_from
from agentsh.explore.workspace.view import WorkspaceView
from agentsh.files import is_folder, is_link, is_regular, is_there

BASE = 0
"""The number of the check on the base."""
_KEPT = frozenset(("runner.log",))


class Machine(Struct, frozen=True):
    """This machine: `view` is a bubblewrap that works, `own` agentsh's own folders."""

    git: GitCalls
    view: str | None
    own: tuple[Path, ...]


class AwayWorkspaces(Protocol):
    """Workspaces that are on other machines (explore/away/crew.py)."""

    def has_workspace(self, n: int) -> bool:
        """Whether the machine that has it can be reached."""

    def take_workspace_away(self, n: int) -> None: ...


class _Standing(Struct, frozen=True):
    """Where a workspace is seen: the folder in it that is worked in, and all of it."""

    cwd: Path
    root: Path


class BranchJobs:
    """Of one exploration. `away`: its branches run elsewhere, and their workspaces are there."""

    def __init__(
        self,
        folders: ExploreFolders,
        machine: Machine,
        bases: Mapping[int, FrozenBase],
        away: AwayWorkspaces | None = None,
    ) -> None:
        self._folders = folders
        self._place = machine
        self._away = away
        self._bases = dict(bases)
        self._making = threading.Lock()

    def job(self, exploration: Exploration, row: BranchRow, *, may_go_on: bool = True) -> BranchJob:
        """What its runner is told."""
        plan, base = exploration.plan, exploration.base_of(row)
        branch = self._folders.branch(row.n)
        started = row.started
        goes_on = may_go_on and started is not None and self._has_workspace(row.n)
        goes_on = goes_on and started is not None and is_regular(started.path)
        is_over = goes_on and row.turn is not None and row.status == "running"
        is_over = is_over and row.turn is not None and row.turn.status != "aborted"
        standing = self._standing(base, branch)
        model = row.planned.model
        options = {**exploration.options, **({"model": model} if model else {})}
        return BranchJob(
            n=row.n,
            attempt=row.tries + 1,
            kind="branch",
            prompt=row.task.prompt,
            cwd=str(standing.cwd),
            root=str(standing.root),
            branch=str(branch),
            store=str(self._folders.store),
            base_index=str(self._base_place(exploration, base) / "index"),
            base_commit=base.commit,
            base_files=str(self._base_place(exploration, base) / "files"),
            sessions=str(self._folders.sessions),
            options=options,
            steps=exploration.limits.steps,
            trunk=plan.trunk,
            session=started.path if goes_on and started is not None else None,
            group=None if goes_on else f"{row.planned.task}/{model or ''}",
            setup=plan.setup,
            check=exploration.check_of(row),
            check_timeout=plan.check_timeout,
            protect=plan.protect,
            seconds=exploration.limits.seconds,
            turn=row.turn if is_over else None,
            folder=base.folder,
            apart=None if self._has_view else base.root,
            own_processes=self._place.view,
        )

    def base_check(self, exploration: Exploration) -> BranchJob | None:
        """The check of the first task on the base, before anything is done."""
        row = exploration.rows[0]
        if exploration.check_of(row) is None or exploration.base_check is not None:
            return None
        job = self.job(exploration, row, may_go_on=False)
        branch = self._folders.branch(BASE)
        standing = self._standing(exploration.base_of(row), branch)
        cwd, root = str(standing.cwd), str(standing.root)
        return replace(job, n=BASE, kind="check", branch=str(branch), attempt=1, cwd=cwd, root=root)

    @property
    def _has_view(self) -> bool:
        """Whether branches see their copy at the folder's own path."""
        return self._place.view is not None or self._away is not None

    def _standing(self, base: BaseState, branch: Path) -> _Standing:
        if self._has_view:
            return _Standing(Path(base.folder), Path(base.root))
        root = branch / WORK
        return _Standing(root / Path(base.folder).relative_to(base.root), root)

    def prepare(self, exploration: Exploration, row: BranchRow, n: int) -> Callable[[], None]:
        """Makes the workspace, if it is not there; called from a worker's thread."""

        def make() -> None:
            branch, base = self._folders.branch(n), exploration.base_of(row)
            frozen = self._base(exploration, base)  # a capture needs it as well
            if self._has_view:
                lay_out_workspace(frozen.base_folder, branch, branch / "borrowed")
                return
            lent = frozen.common or branch / "borrowed"
            finish = partial(self._copy_shared, exploration, base)
            lay_out_workspace(frozen.base_folder, branch, lent, finish)

        return make

    def _copy_shared(self, exploration: Exploration, base: BaseState, work: Path) -> None:
        """Into a workspace that nothing is lent to: what would be, as far as it is there."""
        for path in exploration.plan.shared:
            source = Path(base.folder) / path
            target = work / Path(base.folder).relative_to(base.root) / path
            if is_there(source) and not is_there(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                copy_tree(source, target)

    def view(self, exploration: Exploration, row: BranchRow, n: int) -> WorkspaceView | None:
        """How its processes see the workspace."""
        if self._place.view is None or self._away is not None:
            return None
        base = exploration.base_of(row)
        frozen, shared = self._base(exploration, base), self.shared(exploration, base)
        return frozen.view(self._place.view, self._folders.branch(n), shared, self._place.own)

    def stops_asked(self) -> list[int]:
        """Branches that somebody outside wants to end. Raises OSError."""
        return stops_asked(self._folders)

    def elsewhere(self, away: AwayWorkspaces) -> BranchJobs:
        """The same, of branches that run on other machines."""
        return BranchJobs(self._folders, self._place, self._bases, away)

    def workspace(self, n: int) -> Path:
        return self._folders.branch(n) / WORK

    @property
    def git(self) -> GitCalls:
        return self._place.git

    @property
    def are_here(self) -> bool:
        """Whether workspaces are on this machine."""
        return self._away is None

    def bases(self, exploration: Exploration) -> dict[BaseState, FrozenBase]:
        """All of them, made again where they are gone."""
        return {base: self._base(exploration, base) for base in exploration.plan.bases}

    def bring_base(self, exploration: Exploration, row: BranchRow) -> None:
        """Make a branch's base again where it is gone. Raises ToolFailedError, OSError."""
        base = exploration.base_of(row)
        if not is_regular(self._base_place(exploration, base) / "index"):
            self._base(exploration, base)

    def shared(self, exploration: Exploration, base: BaseState) -> list[Path]:
        """What is lent read-only to the branches of a base."""
        below = Path(base.folder).relative_to(base.root)
        files = self._base(exploration, base).files
        return [
            Path(base.folder) / path
            for path in exploration.plan.shared
            # another task's folder need not have it; a link that was copied leads there already
            if is_there(Path(base.folder) / path) and not is_link(files / below / path)
        ]

    def let_stand(self, exploration: Exploration, row: BranchRow) -> None:
        """Outside of the view a workspace that is kept borrows from the person's own objects."""
        frozen = self._base(exploration, exploration.base_of(row))
        branch = self._folders.branch(row.n)
        if frozen.common is not None and is_folder(branch / WORK / ".git"):
            lend_from(branch / WORK / ".git", branch / "borrowed", frozen.common)

    def take_away(self, n: int) -> None:
        """The workspace of a branch, and what belongs to it. Raises OSError."""
        if self._away is not None:
            self._away.take_workspace_away(n)
        branch = self._folders.branch(n)
        if is_folder(branch):
            for path in branch.iterdir():
                if path.name not in _KEPT:
                    remove_tree(path)

    def take_bases_away(self) -> None:
        """Copies of the folder, when nothing runs; the store still holds what they were."""
        with self._making:
            self._bases.clear()
            for path in (self._folders.bases, *self._folders.data.glob(f"{CAPTURE_INDEX}*")):
                remove_tree(path)

    def _has_workspace(self, n: int) -> bool:
        if self._away is not None:
            return self._away.has_workspace(n)
        return is_folder(self._folders.branch(n) / WORK)

    def _base_place(self, exploration: Exploration, base: BaseState) -> Path:
        return self._folders.base(exploration.plan.bases.index(base))

    def _base(self, exploration: Exploration, base: BaseState) -> FrozenBase:
        number = exploration.plan.bases.index(base)
        with self._making:
            if number not in self._bases:
                self._bases[number] = self._opened(base, self._folders.base(number))
            return self._bases[number]

    def _opened(self, base: BaseState, machine: Path) -> FrozenBase:
        git, root, store = self._place.git, Path(base.root), self._folders.store
        return opened_base(
            git, root, machine, store, base.commit, is_repository=base.is_repository, head=base.head
        )
