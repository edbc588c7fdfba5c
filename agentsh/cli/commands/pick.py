"""`agentsh pick`: bring what another branch, or another session, found to the current leaf.

Without --summary no model is asked and no settings are read; without --files no file is touched.
Read next: cli/assembly/bringing.py, agent/picking.py, agent/files/bringing.py.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Struct

from agentsh.cli.notices import warn
from agentsh.cli.output import print_json
from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.cli.parsing.options import EntryWord, Json, SessionWord
from agentsh.cli.parsing.words import Argument, Option
from agentsh.errors import UsageError

if TYPE_CHECKING:
    from agentsh.cli.assembly.bringing import FilesOfBranch
    from agentsh.session.file.session import Session
    from agentsh.session.format.entries import EntryId

From = Annotated[
    str | None,
    Option("--from", metavar="SESSION", help="ENTRY is of that session", complete="sessions"),
]


def pick(
    options: ModelOptions,
    session: SessionWord,
    entry: EntryWord,
    focus: Annotated[str | None, Argument(help="what that summary must keep")] = None,
    other: From = None,
    summary: Annotated[
        bool, Option("--summary", help="a summary of the branch that ends there")
    ] = False,
    files: Annotated[
        bool, Option("--files", help="that branch's changes to the working files, too")
    ] = False,
    json: Json = False,
) -> int:
    """Bring what another branch found to the leaf."""
    from agentsh.cli.lookup.finding import change, look_at, said_entry

    if files and other is not None:
        raise UsageError("--files and --from exclude each other")
    if focus is not None and not summary:
        raise UsageError("a focus goes with --summary")
    if summary:
        wish = _SummaryWish(session, entry, other, focus)
        return _summed(options, wish, files=files, json=json)
    from agentsh.agent.picking import pick_entry

    with ExitStack() as stack:
        opened = stack.enter_context(change(session, options.session_dir))
        source = opened
        if other is not None:
            source = stack.enter_context(look_at(other, options.session_dir))
        target = said_entry(source, entry)
        changes = _files_of(opened, target, options.session_dir) if files else None
        made = pick_entry(opened, source, target)
        if changes is not None:
            warn(changes.bring())
        if json:
            print_json({"session": opened.header.id, "entry": made.id})
    return 0


def _files_of(session: Session, target: EntryId, session_dir: str | None) -> FilesOfBranch:
    """What that branch changed; whether it fits is known from the start."""
    from agentsh.agent.turn.recorder import Recorder
    from agentsh.cli.assembly.bringing import FilesOfBranch
    from agentsh.cli.assembly.safety import keeping
    from agentsh.cli.lookup.finding import find_store
    from agentsh.cli.setup.paths import find_places

    home = find_store(session_dir).cwd_of(session.header.id, session.header.cwd)
    recorder = Recorder(session, time.time, lambda notice: warn([notice.text]))
    open_checkpointer = keeping(find_places(os.environ, session_dir), os.environ, Path(home))
    return FilesOfBranch(recorder, open_checkpointer(), target)


class _SummaryWish(Struct, frozen=True):
    """Into which session a summary goes, of the branch that ends where, and what it must keep."""

    session: str
    entry: str
    other: str | None
    """The session that ENTRY is of, if another."""
    focus: str | None


def _summed(options: ModelOptions, wish: _SummaryWish, *, files: bool, json: bool) -> int:
    """With a summary of that branch, which a model writes."""
    from agentsh.cli.assembly.bringing import bring
    from agentsh.cli.assembly.wiring import wire
    from agentsh.cli.commands.run import stopping
    from agentsh.cli.lookup.choosing import opened
    from agentsh.cli.lookup.finding import find_session, look_at, said_entry
    from agentsh.cli.setup.configuration import configure

    cwd = Path.cwd()
    configuration = configure(options, os.environ, cwd)
    warn(configuration.notices)
    chosen = opened(configuration.places, find_session(wish.session, options.session_dir), cwd)
    with ExitStack() as stack:
        wired = stack.enter_context(wire(configuration, options, chosen))
        warn(wired.notices)
        agent = wired.agent
        source = agent.session
        if wish.other is not None:
            source = stack.enter_context(look_at(wish.other, options.session_dir))
        target = said_entry(source, wish.entry)
        with stopping(agent) as caught:
            made, done = bring(agent, source, target, summary=True, focus=wish.focus, files=files)
        if caught:
            return 128 + caught[0]
        warn(done)
        if json:
            print_json({"session": agent.session.header.id, "entry": made})
    return 0
