"""`agentsh checkout`: move the leaf in the same file. To a prompt means before it, as Pi does.

Without --summarize and --files no model and no settings are needed, and none are loaded.
"""

from __future__ import annotations

from agentsh.agent.moving import destination
from agentsh.cli.finding import change, find_session
from agentsh.cli.notices import warn
from agentsh.cli.options import ModelOptions
from agentsh.session.session import Session
from agentsh.ui.sanitize import safe_text


def checkout(
    session: str,
    entry: str,
    options: ModelOptions,
    *,
    summarize: bool,
    focus: str | None,
    files: bool,
) -> int:
    """Go there, durably."""
    if summarize or files or focus is not None:
        return _with_agent(
            session,
            entry,
            options,
            summarize=summarize or focus is not None,
            focus=focus,
            files=files,
        )
    with change(session, options.session_dir) as opened:
        target = opened.resolve(entry)
        place, prompt = (None, None) if target is None else destination(opened.entry(target))
        opened.move(place, "tree")
        _say(opened, prompt)
    return 0


def _say(session: Session, prompt: str | None) -> None:
    """On stderr, for a person: where the leaf is now."""
    place = "before the first message" if session.leaf is None else f"at {session.leaf}"
    before = f", before the prompt: {safe_text(prompt)[:200]}" if prompt else ""
    warn([f"the leaf is {place}{before}"])


def _with_agent(
    session: str,
    entry: str,
    options: ModelOptions,
    *,
    summarize: bool,
    focus: str | None,
    files: bool,
) -> int:
    import os
    from pathlib import Path

    from agentsh.cli.choosing import find_store, opened
    from agentsh.cli.configuration import configure
    from agentsh.cli.wiring import wire

    cwd = Path.cwd()
    configuration = configure(options, os.environ, cwd)
    store = find_store(configuration.places)
    chosen = opened(store, find_session(session, options.session_dir), cwd)
    with wire(configuration, options, chosen) as wired:
        warn((*configuration.notices, *wired.notices))
        target = wired.agent.session.resolve(entry)
        moved = wired.agent.checkout(target, summarize=summarize, focus=focus, files=files)
        warn(moved.notices)
        _say(wired.agent.session, moved.editor_text)
    return 0
