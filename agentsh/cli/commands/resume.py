"""`agentsh resume`: a chat in a session that there is; without a word, one that is picked.

Read next: chat.py.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from agentsh.cli.notices import warn
from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.cli.parsing.options import PickedSession, PlainLines
from agentsh.errors import AgentshError, SessionNotFoundError

if TYPE_CHECKING:
    from agentsh.cli.setup.configuration import Configuration
    from agentsh.ui.terminal import Terminal


def resume(options: TurnOptions, session: PickedSession = None, plain: PlainLines = False) -> int:
    """Chat in a session, from its leaf; without one, choose it."""
    from agentsh.cli.assembly.safety import confine
    from agentsh.cli.commands.chat import asker_of_trust, plainly, run_once, talk
    from agentsh.cli.lookup.choosing import StartAt, open_chosen
    from agentsh.cli.setup.configuration import configure
    from agentsh.cli.setup.paths import find_places
    from agentsh.ui.terminal import describe_terminal

    branch = None if session is None else _branch(session, options.session_dir)
    if branch is not None:
        from agentsh.cli.assembly.exploring.visiting import visit_branch

        words = [str(branch) if word == session else word for word in sys.argv[1:]]
        return visit_branch(find_places(os.environ, options.session_dir), branch, words)
    terminal = describe_terminal(sys.stdin, sys.stdout, sys.stderr, os.environ)
    if not terminal.stdin_tty:
        return run_once("resume", None, options, StartAt(session is None, session), [])
    cwd = Path.cwd()
    configuration = configure(options, os.environ, cwd, asker_of_trust(terminal))
    warn(configuration.notices)
    confine(configuration, cwd)  # without a sandbox that was asked for, nothing is even opened
    terminal = plainly(terminal, plain or configuration.settings.ui.plain)
    word = session if session is not None else _picked(configuration, terminal, cwd)
    if word is None:
        return 0
    chosen = open_chosen(configuration.places, cwd, StartAt(session=word))
    return talk(configuration, options, chosen, terminal, None)


def _branch(session: str, session_dir: str | None) -> Path | None:
    """The file, where it is a branch's of an exploration, and we are not in its workspace yet."""
    from agentsh.cli.lookup.finding import find_session, is_branch
    from agentsh.cli.setup.configuration import IN_BRANCH

    try:
        file = find_session(session, session_dir)
    except AgentshError:
        return None  # it is said where it is to be opened
    return file if is_branch(file) and os.environ.get(IN_BRANCH) != str(file) else None


def _picked(configuration: Configuration, terminal: Terminal, cwd: Path) -> str | None:
    """A session of this folder, picked on the screen; None: left without."""
    from agentsh.cli.assembly.themes import theme_in_force
    from agentsh.cli.lookup.sessionkeeper import StoreKeeper

    keeper = StoreKeeper(configuration.places, cwd)
    if not keeper.sessions():
        raise SessionNotFoundError(
            f"there is no session of {cwd}", hint="`agentsh sessions --all` lists all"
        )
    if not terminal.is_interactive:
        return "last"
    from agentsh.ui.asking.pickers import pick_session
    from agentsh.ui.fullscreen import Screen

    theme, _ = theme_in_force(configuration, terminal)  # the chat says what is wrong with it
    row = pick_session(keeper, Screen(terminal, theme))
    return None if row is None else str(row.path)
