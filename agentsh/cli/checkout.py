"""`agentsh checkout`: move the leaf in the same file. To a prompt means before it, as Pi does.

Without --summarize no model is needed, and without --files no settings: none are loaded then. With
--files what would happen to each file is said before anything moves, and asked on a terminal; what
somebody else changed since is left alone. Read next: agent/moving.py, agent/rewinding.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from agentsh.agent.moving import Moved, destination
from agentsh.cli.finding import change, find_session
from agentsh.cli.modeloptions import ModelOptions
from agentsh.cli.notices import warn
from agentsh.session.entries import EntryId
from agentsh.session.session import Session
from agentsh.ui.sanitize import safe_line

if TYPE_CHECKING:
    from agentsh.agent.rewinding import FilePlan


class Files(Struct, frozen=True):
    """How the files are brought along. `overwrite`: what others changed since, too."""

    dry_run: bool = False
    overwrite: bool = False
    yes: bool = False


def checkout(
    session: str,
    entry: str,
    options: ModelOptions,
    *,
    summarize: bool,
    focus: str | None,
    files: Files | None,
) -> int:
    """Go there, durably."""
    if summarize or focus is not None:
        return _with_agent(session, entry, options, focus, files)
    with change(session, options.session_dir) as opened:
        target = opened.resolve(entry)
        if files is not None:
            return _with_files(opened, target, options, files)
        place, prompt = (None, None) if target is None else destination(opened.entry(target))
        opened.move(place, "tree")
        _say(target, prompt)
    return 0


def _say(target: EntryId | None, prompt: str | None) -> None:
    """On stderr, for a person: what the next prompt will follow."""
    if target is None:
        warn(["now before the first message"])
    elif prompt is not None:
        warn([f"now before {target}, the prompt: {safe_line(prompt, 100)}"])
    else:
        warn([f"now at {target}"])


def _with_files(session: Session, target: EntryId | None, options: ModelOptions, how: Files) -> int:
    """The leaf and the files, without a model."""
    import os
    import time
    from pathlib import Path

    from agentsh.agent.checkpoints import Checkpoints
    from agentsh.agent.recorder import Recorder
    from agentsh.agent.rewinding import Rewinder
    from agentsh.cli.finding import find_store
    from agentsh.cli.places import find_places
    from agentsh.cli.safety import keeping

    home = find_store(options.session_dir).cwd_of(session.header.id, session.header.cwd)
    places = find_places(os.environ, options.session_dir)
    recorder = Recorder(session, time.time, lambda notice: warn([notice.text]))
    keeper = keeping(places, os.environ, Path(home))
    states = Checkpoints(
        recorder,
        keeper,
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
    place, prompt = (None, None) if target is None else destination(session.entry(target))
    rewinder.leave(plan)
    session.move(place, "tree")
    _say(target, prompt)
    warn(rewinder.bring_back(plan, overwrite=how.overwrite))
    if plan.changes and old is not None:
        warn([f"back again: agentsh checkout {session.header.id} {old} --files"])
    return 0


def _agreed(plan: FilePlan, how: Files) -> bool:
    """Say what would be done; False: it shall not be. On a terminal the person is asked."""
    import sys

    asks = plan.changes and not how.yes and sys.stdin.isatty() and sys.stderr.isatty()
    if how.dry_run or asks:
        warn(plan.lines())
    if how.dry_run:
        return False
    if not asks:
        return True
    count = len(plan.changes if how.overwrite else plan.doable)
    sys.stderr.write(f"Go there, and do this to {count} files? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    warn(["nothing was changed"])
    return False


def _with_agent(
    session: str, entry: str, options: ModelOptions, focus: str | None, files: Files | None
) -> int:
    """With a summary of what is left, which a model writes."""
    import os
    from pathlib import Path

    from agentsh.cli.choosing import find_store, opened
    from agentsh.cli.configuration import configure
    from agentsh.cli.wiring import wire

    cwd = Path.cwd()
    configuration = configure(options, os.environ, cwd)
    warn(configuration.notices)
    store = find_store(configuration.places)
    chosen = opened(store, find_session(session, options.session_dir), cwd)
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
        _say(target, moved.editor_text)
    return 0
