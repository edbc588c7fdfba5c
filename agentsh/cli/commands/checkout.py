"""`agentsh checkout`: move the leaf in the same file. To a prompt means before it, as Pi does.

Without --summarize no model is needed, and without --files no settings: none are loaded then. With
--files what would happen to each file is said before anything moves, and asked on a terminal; what
somebody else changed since is left alone. Read next: agent/moving.py, agent/files/rewinding.py.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Struct

from agentsh.cli.notices import agrees, warn
from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.cli.parsing.options import EntryWord, SessionWord
from agentsh.cli.parsing.words import Argument, Option
from agentsh.errors import UsageError

if TYPE_CHECKING:
    from agentsh.agent.files.rewinding import FilePlan
    from agentsh.agent.moving import Moved
    from agentsh.session.file.session import Session
    from agentsh.session.format.entries import EntryId


class _Files(Struct, frozen=True):
    """How the files are brought along. `overwrite`: what others changed since, too."""

    dry_run: bool = False
    overwrite: bool = False
    yes: bool = False


def checkout(
    options: ModelOptions,
    session: SessionWord,
    entry: EntryWord,
    summarize: Annotated[
        bool, Option("--summarize", help="write a summary of what is left")
    ] = False,
    focus: Annotated[str | None, Argument(help="what that summary must keep")] = None,
    files: Annotated[
        bool, Option("--files", help="bring the working files to that point, too")
    ] = False,
    dry_run: Annotated[
        bool, Option("--dry-run", help="with --files: only say what would be done")
    ] = False,
    overwrite: Annotated[
        bool, Option("--overwrite", help="with --files: also what others changed since")
    ] = False,
    yes: Annotated[bool, Option("--yes", help="with --files: do not ask")] = False,
) -> int:
    """Move a session's leaf in the same file; a prompt: before it."""
    from agentsh.agent.moving import draft_of
    from agentsh.cli.lookup.finding import change

    how = _Files(dry_run, overwrite, yes) if files else None
    if how is None and (dry_run or overwrite or yes):
        raise UsageError("--dry-run, --overwrite and --yes go with --files")
    if summarize or focus is not None:
        return _with_agent(session, entry, options, focus, how)
    with change(session, options.session_dir) as opened:
        target = opened.resolve(entry)
        if how is not None:
            return _with_files(opened, target, options, how)
        leaf, prompt = (None, None) if target is None else draft_of(opened, opened.entry(target))
        opened.move(leaf, "tree")
        _say(opened, target, prompt)
    return 0


def _say(session: Session, target: EntryId | None, prompt: str | None) -> None:
    """On stderr, for a person: what the next prompt will follow; beside it the id."""
    from agentsh.ui.text.places import after_entry, before_prompt

    entry = None if target is None else session.entry(target)
    where = after_entry(entry) if prompt is None else before_prompt(prompt)
    warn([f"now {where}" + ("" if target is None else f"  ({target})")])


def _with_files(
    session: Session, target: EntryId | None, options: ModelOptions, how: _Files
) -> int:
    """The leaf and the files, without a model."""
    from agentsh.agent.files.checkpoints import Checkpoints
    from agentsh.agent.files.rewinding import Rewinder
    from agentsh.agent.moving import draft_of
    from agentsh.agent.turn.recorder import Recorder
    from agentsh.cli.assembly.safety import keeping
    from agentsh.cli.lookup.finding import find_store
    from agentsh.cli.setup.paths import find_places
    from agentsh.session.store.naming import command_hint

    store = find_store(options.session_dir)
    home = store.cwd_of(session.header.id, session.header.cwd)
    places = find_places(os.environ, options.session_dir)
    recorder = Recorder(session, time.time, lambda notice: warn([notice.text]))
    checkpointer = keeping(places, os.environ, Path(home))
    states = Checkpoints(
        recorder,
        checkpointer,
        lambda notice: warn([notice.text]),
        recording=False,  # nothing runs here; only what there is is brought back
        clock=time.time,
        share=0,
    )
    rewinder = Rewinder(recorder, states)
    plan = rewinder.plan(target)
    if not _agreed(plan, how):
        return 0
    old = session.leaf
    leaf, prompt = (None, None) if target is None else draft_of(session, session.entry(target))
    rewinder.leave(plan)
    session.move(leaf, "tree")
    _say(session, target, prompt)
    warn(rewinder.bring_back(plan, overwrite=how.overwrite))
    if plan.changes and old is not None:
        session_words = store.words(session.header.id, session.path)
        warn([f"back again: {command_hint('checkout', session_words, old, '--files')}"])
    return 0


def _agreed(plan: FilePlan, how: _Files) -> bool:
    """Say what would be done; False: it shall not be. On a terminal the person is asked."""
    asks = plan.changes and not how.yes and sys.stdin.isatty() and sys.stderr.isatty()
    if how.dry_run or asks:
        warn(plan.lines())
    if how.dry_run:
        return False
    if not asks:
        return True
    count = len(plan.doable) + (len(plan.conflicts) if how.overwrite else 0)
    if agrees(f"Go there, and do this to {count} files?", sys.stderr, sys.stdin):
        return True
    warn(["nothing was changed"])
    return False


def _with_agent(
    session: str, entry: str, options: ModelOptions, focus: str | None, files: _Files | None
) -> int:
    """With a summary of what is left, which a model writes."""
    from agentsh.cli.assembly.wiring import wire
    from agentsh.cli.lookup.choosing import opened
    from agentsh.cli.lookup.finding import find_session
    from agentsh.cli.setup.configuration import configure

    cwd = Path.cwd()
    configuration = configure(options, os.environ, cwd)
    warn(configuration.notices)
    chosen = opened(configuration.places, find_session(session, options.session_dir), cwd)
    with wire(configuration, options, chosen) as wired:
        warn(wired.notices)
        agent = wired.agent
        target = agent.session.resolve(entry)
        if files is not None and not _agreed(agent.files.plan(target), files):
            return 0
        moved: Moved = agent.checkout(
            target,
            summarize=True,
            focus=focus,
            files=files is not None,
            overwrite=files is not None and files.overwrite,
        )
        warn(moved.notices)
        _say(agent.session, target, moved.editor_text)
    return 0
