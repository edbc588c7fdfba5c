"""Declares the commands that change a session's tree: checkout, fork, label, rename, repair.

Signatures only; each has a module of its own. Nothing is ever changed but by appending.
Annotations are kept as objects (no `from __future__`): typer reads them.
"""

from typing import Annotated

import typer

from agentsh.cli.modeloptions import ModelOptions
from agentsh.cli.options import At, EntryWord, Json, Session, SessionDir, add


def declare(app: typer.Typer) -> None:
    """Register them."""
    add(app, checkout, options=ModelOptions)
    for command in (fork, label, rename, repair):
        add(app, command)


def checkout(
    options: ModelOptions,
    session: Session,
    entry: EntryWord,
    summarize: Annotated[
        bool, typer.Option("--summarize", help="write a summary of what is left")
    ] = False,
    focus: Annotated[str | None, typer.Argument(help="what that summary must keep")] = None,
    files: Annotated[
        bool, typer.Option("--files", help="bring the working files to that point, too")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="with --files: only say what would be done")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="with --files: also what others changed since")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="with --files: do not ask")] = False,
) -> int:
    """Move a session's leaf in the same file; a prompt: before it."""
    from agentsh.cli.checkout import Files
    from agentsh.cli.checkout import checkout as start
    from agentsh.errors import UsageError

    how = Files(dry_run, overwrite, yes) if files else None
    if how is None and (dry_run or overwrite or yes):
        raise UsageError("--dry-run, --overwrite and --yes go with --files")
    return start(session, entry, options, summarize=summarize, focus=focus, files=how)


def fork(
    session: Session, at: At = None, json: Json = False, session_dir: SessionDir = None
) -> int:
    """Make a new session from a path of another; print its id."""
    from agentsh.cli.fork import fork as start

    return start(session, at=at, json=json, session_dir=session_dir)


def label(
    session: Session,
    entry: EntryWord,
    name: Annotated[str | None, typer.Argument(help="none clears it")] = None,
    session_dir: SessionDir = None,
) -> int:
    """Name an entry."""
    from agentsh.cli.label import label as start

    return start(session, entry, name, session_dir=session_dir)


def rename(
    session: Session,
    name: Annotated[str, typer.Argument(help="empty clears it")],
    session_dir: SessionDir = None,
) -> int:
    """Name a session."""
    from agentsh.cli.label import rename as start

    return start(session, name, session_dir=session_dir)


def repair(
    session: Session,
    to: Annotated[str, typer.Option("--to", metavar="FILE", help="the new file")],
    session_dir: SessionDir = None,
) -> int:
    """Write a sound file from the good part of a bad one."""
    from agentsh.cli.repair import repair as start

    return start(session, to, session_dir=session_dir)
