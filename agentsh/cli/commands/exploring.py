"""`agentsh explore stop`, `clean`, `rm`, `pick`: ended, tidied up, taken away, brought here."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Annotated

from msgspec.structs import replace

from agentsh.cli.notices import agrees, warn
from agentsh.cli.output import print_json, print_lines
from agentsh.cli.parsing.exploreoptions import BranchWord, ExplorationWord
from agentsh.cli.parsing.options import Json, SessionDir, Yes
from agentsh.cli.parsing.words import Argument, Option
from agentsh.errors import ExplorationError

if TYPE_CHECKING:
    from agentsh.cli.assembly.exploring.picking import PickDone
    from agentsh.cli.lookup.explorations import LookedAt
    from agentsh.jsontext import JsonValue

_MOST_WAIT = 60.0
"""Seconds that an exploration takes at most to end well."""


def explore_stop(
    exploration: ExplorationWord,
    branch: Annotated[
        str | None, Argument(help="only this branch, by its number or EXPLORATION.N")
    ] = None,
    session_dir: SessionDir = None,
) -> int:
    """End an exploration that another process runs, as Ctrl-C would; returns when it has ended."""
    from agentsh.cli.lookup.explorations import explorations_here
    from agentsh.explore.log.folder import ask_to_stop, runner_of

    explorations = explorations_here(session_dir)
    folders = explorations.find(exploration)
    number = None
    if branch is not None:
        _, number = explorations.branch(f"{folders.name}.{branch.removeprefix(f'{folders.name}.')}")
    looked = explorations.look(folders)
    if looked.runner is None:
        raise ExplorationError(f"exploration {folders.name} is not running")
    if looked.runner <= 0:  # 0 would be ourselves
        raise ExplorationError(f"exploration {folders.name} has only just begun")
    if number is None:
        os.kill(looked.runner, signal.SIGINT)
    elif not _is_open(looked, number):
        raise ExplorationError(f"branch {number} has ended: it is {looked.now.row(number).status}")
    else:
        ask_to_stop(folders, number)
        os.kill(looked.runner, signal.SIGUSR1)
    until = time.monotonic() + _MOST_WAIT
    while runner_of(folders) is not None:
        if number is not None and not _is_open(explorations.look(folders), number):
            break
        if time.monotonic() > until:
            raise ExplorationError(
                f"process {looked.runner} has not ended it in {_MOST_WAIT:.0f} s"
            )
        time.sleep(0.1)
    return 0


def _is_open(looked: LookedAt, number: int) -> bool:
    return looked.now.row(number).status in ("queued", "running")


def explore_clean(
    dry_run: Annotated[bool, Option("--dry-run", help="say what would go, take nothing")] = False,
    session_dir: SessionDir = None,
) -> int:
    """Take away workspaces and bases that nothing runs in; what they hold is captured first."""
    from agentsh.cli.assembly.exploring.tidying import cleaned, to_clean
    from agentsh.cli.lookup.explorations import explorations_here

    explorations = explorations_here(session_dir)
    for looked in explorations.all_of(everywhere=True):
        if looked.runner is not None:
            continue
        places = to_clean(looked.folders)
        if not places:
            continue
        if dry_run:
            print_lines(f"{looked.folders.name}: {folder}" for folder in places)
        else:
            warn(cleaned(looked))
            print_lines([f"{looked.folders.name}: cleaned"])
    return 0


def explore_rm(
    exploration: ExplorationWord, yes: Yes = False, session_dir: SessionDir = None
) -> int:
    """Put an exploration's log and sessions into the trash folder; its data goes."""
    from agentsh.cli.assembly.exploring.tidying import trash_exploration
    from agentsh.cli.commands.trash import agreed
    from agentsh.cli.lookup.explorations import explorations_here
    from agentsh.explore.log.folder import visitor_of

    explorations = explorations_here(session_dir)
    looked = explorations.look(explorations.find(exploration))
    if looked.runner is not None:
        raise ExplorationError(
            f"exploration {looked.folders.name} is run by process {looked.runner}",
            hint=f"`agentsh explore stop {looked.folders.name}` ends it",
        )
    for row in looked.now.rows:
        if (visitor := visitor_of(looked.folders, row.n)) is not None:
            raise ExplorationError(f"process {visitor} is in branch {looked.folders.name}.{row.n}")
    question = f"Put exploration {looked.folders.name} with its sessions into the trash folder?"
    if not yes and not agreed(question, "explore rm"):
        return 0
    print_lines([f"moved to {trash_exploration(explorations, looked)}"])
    return 0


def explore_pick(
    branch: BranchWord,
    no_files: Annotated[bool, Option("--no-files", help="only the conversation")] = False,
    overwrite: Annotated[
        bool, Option("--overwrite", help="also files that changed here since")
    ] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="only say what would be done")] = False,
    yes: Yes = False,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Bring a branch's files into the folder, and its conversation into the session."""
    from agentsh.cli.assembly.exploring.picking import PickWish, pick_branch
    from agentsh.cli.lookup.explorations import explorations_here

    explorations = explorations_here(session_dir)
    looked, number = explorations.branch(branch)
    wish = PickWish(files=not no_files, overwrite=overwrite, dry_run=dry_run)
    if not (yes or dry_run or json) and sys.stdin.isatty() and sys.stderr.isatty():
        shown = pick_branch(explorations, looked, number, replace(wish, dry_run=True))
        warn(shown.notices)
        if not agrees(f"Bring {looked.folders.name}.{number} here?", sys.stderr, sys.stdin):
            return 0
    _tell(
        f"{looked.folders.name}.{number}",
        pick_branch(explorations, looked, number, wish),
        json=json,
    )
    return 0


def _tell(branch: str, picked: PickDone, *, json: bool) -> None:
    """What was picked; of a trial, what would be."""
    warn(picked.notices)
    if json:
        files: list[JsonValue] = [{"path": path, "kind": kind} for path, kind in picked.files]
        print_json(
            {
                "session": picked.session,
                "path": picked.path,
                "leaf": picked.leaf,
                "files": files,
            }
        )
    elif picked.session is not None:
        count = len(picked.files)
        files_words = "1 file" if count == 1 else f"{count} files"
        print_lines([f"{branch}: {files_words} brought; session {picked.session} goes on"])
