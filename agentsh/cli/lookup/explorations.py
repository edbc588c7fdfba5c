"""Which exploration and which branch a word means, and what they are now. Only reading.

Read next: explore/log/folder.py, explore/results.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from agentsh.cli.lookup.finding import store_of
from agentsh.cli.notices import warn
from agentsh.cli.setup.keys import without_keys
from agentsh.cli.setup.paths import Paths, find_places
from agentsh.errors import ExplorationError, ExplorationNotFoundError, SessionError
from agentsh.explore.log.folder import (
    ExploreFolders,
    explorations_in,
    find_branch,
    find_exploration,
    read_exploration,
    runner_of,
)
from agentsh.explore.log.state import Exploration
from agentsh.explore.results import BranchResults
from agentsh.explore.workspace.gitcalls import find_git
from agentsh.files import is_folder
from agentsh.session.file.session import Session
from agentsh.session.format.entries import EntryId
from agentsh.session.store.store import Store
from agentsh.views.explored import ExploredBranch


class LookedAt(Struct, frozen=True):
    """An exploration as it is now. `runner`: the process that runs it; None: nobody does."""

    folders: ExploreFolders
    session: str
    now: Exploration
    runner: int | None


class Explorations(Struct, frozen=True):
    """Those of one user, seen from one folder."""

    paths: Paths
    store: Store
    cwd: Path

    def find(self, word: str) -> ExploreFolders:
        """Raises ExplorationNotFoundError."""
        return find_exploration(self.store, self.paths.data, self.cwd, word)

    def look(self, folders: ExploreFolders) -> LookedAt:
        """Raises ExplorationNotFoundError: it has only just begun."""
        runner = runner_of(folders)
        read = read_exploration(folders)
        if read is None:
            raise ExplorationNotFoundError(f"exploration {folders.name} has no plan yet")
        folders = folders.working_in(read[1].plan.workspaces)
        return LookedAt(folders, read[0], read[1], runner)

    def branch(self, word: str) -> tuple[LookedAt, int]:
        """Raises ExplorationNotFoundError."""
        folders, _, number = find_branch(self.store, self.paths.data, self.cwd, word)
        return self.look(folders), number

    def all_of(self, *, everywhere: bool) -> Iterator[LookedAt]:
        """The newest first; one that has no plan yet is left out."""
        for folders in explorations_in(
            self.store, self.paths.data, None if everywhere else self.cwd
        ):
            try:
                yield self.look(folders)
            except ExplorationNotFoundError:
                continue  # it is being made
            except SessionError as e:
                warn([f"exploration {folders.name} cannot be read: {e}"])

    def results(self, looked: LookedAt) -> BranchResults:
        """What its branches changed. Raises ToolFailedError: there is no git; ExplorationError."""
        if not is_folder(looked.folders.store):
            raise ExplorationError(
                f"the results of exploration {looked.folders.name} are gone:"
                f" there is no {looked.folders.store}"
            )
        git = find_git(without_keys(os.environ), self.cwd)
        return BranchResults(git, looked.folders.store)


def explorations_here(session_dir: str | None) -> Explorations:
    places = find_places(os.environ, session_dir)
    cwd = Path(os.path.realpath(Path.cwd()))
    return Explorations(places, store_of(places), cwd)


def explorations_of(session: Session) -> list[LookedAt]:
    """Those that began at entries of that session, the oldest first."""
    if session.path is None:
        return []
    name = session.header.id
    mine = Explorations(find_places(os.environ), Store(session.path.parent, flat=True), Path("/"))
    looked = [
        each
        for each in mine.all_of(everywhere=False)
        if each.now.plan.trunk is not None and each.now.plan.trunk.session == name
    ]
    return looked[::-1]


def branches_shown(looked: Iterable[LookedAt], session: str) -> list[ExploredBranch]:
    """Their branches, for lists and trees; those that began in `session` are marked so."""
    from agentsh.ui.text.explorations import branch_lines

    shown = []
    for each in looked:
        trunk = each.now.plan.trunk
        is_here = trunk is not None and trunk.session == session
        leaf = None if trunk is None or trunk.leaf is None else EntryId(trunk.leaf)
        lines = branch_lines(each.folders.name, each.now, unicode=True)
        shown += [
            ExploredBranch(f"{each.folders.name}.{row.n}", line, leaf, is_here)
            for row, line in zip(each.now.rows, lines, strict=True)
        ]
    return shown
