"""`agentsh checkout`: move the leaf in the same file. To a prompt means before it, as Pi does.

Without --summarize and --files no model and no settings are needed, and none are loaded.
"""

from __future__ import annotations

from agentsh.agent.moving import destination
from agentsh.cli.finding import change, find_session
from agentsh.cli.notices import warn
from agentsh.cli.options import ModelOptions
from agentsh.session.entries import EntryId
from agentsh.ui.sanitize import safe_line


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
        _say(target, moved.editor_text)
    return 0
