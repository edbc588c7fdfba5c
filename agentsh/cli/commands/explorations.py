"""`agentsh explore list`, `show`, `diff`, `export`: what explorations came to. Only reading."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from agentsh.cli.output import print_json, print_lines
from agentsh.cli.parsing.exploreoptions import BranchWord, OptionalExploration
from agentsh.cli.parsing.options import Json, SessionDir
from agentsh.cli.parsing.words import Argument, Option
from agentsh.errors import UsageError

if TYPE_CHECKING:
    from agentsh.explore.log.state import BranchRow
    from agentsh.jsontext import JsonObject

_LOOK = 0.5
"""Seconds between two looks of `--follow`."""


def explore_list(
    all: Annotated[bool, Option("--all", help="of every folder")] = False,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """List the explorations of this folder, the newest first."""
    from agentsh.cli.lookup.explorations import explorations_here
    from agentsh.explore.log.values import exploration_head
    from agentsh.ui.text.explorations import exploration_line

    explorations = explorations_here(session_dir)
    looked = list(explorations.all_of(everywhere=all))
    if json:
        rows = [exploration_head(e.folders, e.session, e.now, runner=e.runner) for e in looked]
        print_json([*rows])
    else:
        print_lines(
            exploration_line(e.folders.name, e.now, is_running=e.runner is not None) for e in looked
        )
    return 0


def explore_show(
    exploration: OptionalExploration = "last",
    json: Json = False,
    follow: Annotated[
        bool, Option("--follow", help="watch it while another process runs it")
    ] = False,
    session_dir: SessionDir = None,
) -> int:
    """Show an exploration's table."""
    from agentsh.cli.lookup.explorations import explorations_here
    from agentsh.explore.log.values import exploration_json
    from agentsh.ui.text.explorations import exploration_table, next_commands

    explorations = explorations_here(session_dir)
    folders = explorations.find(exploration)
    before: tuple[str, ...] = ()
    while True:
        looked = explorations.look(folders)
        now, is_watched = looked.now, follow and looked.runner is not None
        if json and not is_watched:
            print_json(exploration_json(folders, looked.session, now, runner=looked.runner))
            return 0
        lines = tuple(exploration_table(folders.name, now))
        if lines != before and not json:
            print_lines(lines)
            before = lines
        if not is_watched:
            print_lines(next_commands(folders.name, now))
            return 0
        time.sleep(_LOOK)


def explore_diff(
    branch: BranchWord,
    other: Annotated[
        str | None, Argument(help="a branch, or `here`: the folder as it is now")
    ] = None,
    session_dir: SessionDir = None,
) -> int:
    """Print a patch: from the base to a branch, or from it to another."""
    from agentsh.cli.lookup.explorations import explorations_here

    explorations = explorations_here(session_dir)
    looked, number = explorations.branch(branch)
    results, row = explorations.results(looked), looked.now.row(number)
    if other is None:
        patch = results.patch(looked.now, row)
    elif other == "here":
        patch = results.patch_to_folder(looked.now, row)
    else:
        beside, second = explorations.branch(other)
        if beside.folders != looked.folders:
            raise UsageError("two branches of different explorations have no common base")
        patch = results.patch_between(row, beside.now.row(second))
    if sys.stdout.isatty():
        print_lines(patch.decode("utf-8", "replace").splitlines())
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(patch)
    return 0


def explore_export(
    exploration: OptionalExploration,
    to: Annotated[str | None, Option("--to", metavar="FILE.jsonl", help="a new file")] = None,
    predictions: Annotated[
        bool, Option("--predictions", help="instance_id, model_name_or_path, model_patch")
    ] = False,
    session_dir: SessionDir = None,
) -> int:
    """Write a line for each branch: task, model, status, check, patch."""
    from agentsh.cli.lookup.explorations import explorations_here
    from agentsh.files import write_new
    from agentsh.jsontext import dumps

    if to is None:
        raise UsageError("export needs --to FILE.jsonl")
    explorations = explorations_here(session_dir)
    looked = explorations.look(explorations.find(exploration))
    results = explorations.results(looked)
    rows = (
        _exported(row, results.patch_text(looked.now, row), predictions=predictions)
        for row in looked.now.rows
    )
    try:
        write_new(Path(to), (dumps(row) + b"\n" for row in rows))
    except FileExistsError as e:
        raise UsageError(f"{to} is there already", hint="name a new file") from e
    except OSError as e:
        raise UsageError(f"--to {to}: {e.strerror}") from e
    return 0


def _exported(row: BranchRow, patch: str, *, predictions: bool) -> JsonObject:
    if predictions:
        return {
            "instance_id": row.task.id,
            "model_name_or_path": row.planned.model,
            "model_patch": patch,
        }
    return {
        **row.task.extra,
        "task": row.task.id,
        "model": row.planned.model,
        "status": row.status,
        "check": None if row.check is None else row.check.exit,
        "patch": patch,
    }
