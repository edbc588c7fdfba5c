"""`agentsh tree` at a terminal: the navigator, then what was decided in it.

The session is only read while the person looks around; a label takes the lock for as long as it is
written, and a move is `checkout`'s. Leaving without a move writes nothing. Loads prompt_toolkit.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import assert_never

from agentsh.cli.checkout import Files, checkout
from agentsh.cli.configuration import configure
from agentsh.cli.diff import compare, file_lines
from agentsh.cli.finding import find_store, ways_on
from agentsh.cli.fork import fork
from agentsh.cli.modeloptions import ModelOptions
from agentsh.cli.places import find_places
from agentsh.session.entries import EntryId
from agentsh.session.session import Session, open_session
from agentsh.tools.keeper import Keeper
from agentsh.ui.clipboard import osc52
from agentsh.ui.navigator import Forked, Left, Went, navigate
from agentsh.ui.sanitize import safe_line
from agentsh.ui.terminal import Terminal
from agentsh.ui.theme import choose


def navigate_session(session: Session, terminal: Terminal, session_dir: str | None) -> int:
    """Let a person choose, and do it. The session is closed before anything is written."""
    assert session.path is not None
    path = session.path

    def label(target: EntryId, name: str | None) -> None:
        with ways_on(path), open_session(path, write=True) as writer:
            writer.label(target, name)

    def copy(text: str) -> None:
        terminal.stdout.write(osc52(text))
        terminal.stdout.flush()

    def files(there: EntryId) -> Sequence[str]:
        home = find_store(session_dir).cwd_of(session.header.id, session.header.cwd)
        places = find_places(os.environ, session_dir)
        keeper = Keeper(Path(home), places.checkpoints, os.environ)
        found = compare(session, keeper, session.leaf, there)
        return (*(safe_line(notice) for notice in found.notices), *file_lines(found))

    settings = configure(ModelOptions(session_dir=session_dir), os.environ, Path.cwd()).settings
    theme = choose(settings.theme, terminal.background, terminal.colours)
    choice = navigate(session, terminal, theme, label=label, copy=copy, files=files)
    session.close()
    return _done(choice, path, session_dir)


def _done(choice: Left | Went | Forked, path: Path, session_dir: str | None) -> int:
    match choice:
        case Left():
            return 0
        case Forked(target):
            return fork(str(path), at=target, json=False, session_dir=session_dir)
        case Went(target, summarize, files):
            options = ModelOptions(session_dir=session_dir)
            how = Files() if files else None
            return checkout(str(path), target, options, summarize=summarize, focus=None, files=how)
        case _:
            assert_never(choice)
