"""`agentsh tree` at a terminal: the navigator, then what was decided in it.

The session is only read while the person looks around; a label, `x` or `z` takes the lock for as
long as it is written, and a move is `checkout`'s. Leaving without a move writes nothing. Loads
prompt_toolkit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar, assert_never

from agentsh.agent.files.differences import compare
from agentsh.agent.hiding import toggle_folded, toggle_hidden
from agentsh.cli.assembly.themes import theme_in_force
from agentsh.cli.commands.checkout import checkout
from agentsh.cli.commands.compact import compact
from agentsh.cli.commands.fork import fork
from agentsh.cli.commands.pick import pick
from agentsh.cli.lookup.finding import find_store, has_explorations, ways_on
from agentsh.cli.notices import warn
from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.cli.setup.configuration import configure
from agentsh.cli.setup.paths import find_places
from agentsh.context.hiding import Edited
from agentsh.sanitize import safe_line
from agentsh.session.file.session import Session, open_session
from agentsh.session.format.entries import EntryId
from agentsh.tools.undo.checkpointer import Checkpointer
from agentsh.ui.fullscreen import Screen
from agentsh.ui.input.clipboard import copied
from agentsh.ui.paper.pages import PageLine
from agentsh.ui.paper.rows import Laid
from agentsh.ui.terminal import Terminal
from agentsh.ui.text.differences import file_lines
from agentsh.ui.theme import Theme
from agentsh.ui.tree.navigator import (
    EntryDeeds,
    Explored,
    Forked,
    Left,
    NavigatorChoice,
    Picked,
    Summed,
    Went,
)
from agentsh.ui.tree.navkeys import navigate
from agentsh.views.explored import ExploredBranch

_Result = TypeVar("_Result")


def navigate_session(session: Session, terminal: Terminal, session_dir: str | None) -> int:
    """Let a person choose, and do it. The session is closed before anything is written."""
    assert session.path is not None
    path = session.path

    def write(change: Callable[[Session], _Result]) -> _Result:
        with ways_on(path, find_store(session_dir)), open_session(path, write=True) as writer:
            return change(writer)

    def label(target: EntryId, name: str | None) -> None:
        write(lambda writer: writer.label(target, name))

    def toggle(target: EntryId) -> Mapping[EntryId, Edited]:
        return write(lambda writer: toggle_hidden(writer, target))

    def fold(target: EntryId) -> frozenset[EntryId]:
        return write(lambda writer: toggle_folded(writer, target))

    def files(there: EntryId) -> Sequence[PageLine]:
        home = find_store(session_dir).cwd_of(session.header.id, session.header.cwd)
        places = find_places(os.environ, session_dir)
        checkpointer = Checkpointer(Path(home), places.checkpoints, os.environ)
        differences = compare(session, checkpointer, session.leaf, there)
        notices = (PageLine(safe_line(notice), "warn") for notice in differences.notices)
        return (*notices, *file_lines(differences))

    configuration = configure(ModelOptions(session_dir=session_dir), os.environ, Path.cwd())
    theme, notices = theme_in_force(configuration, terminal)
    warn(notices)
    screen = Screen(terminal, theme)
    copy, lay = partial(_copy, terminal), partial(_laid, theme)
    deeds = EntryDeeds(label, copy, files, toggle, fold)
    choice = navigate(session, screen, deeds, lay=lay, explored=_explored(session))
    session.close()
    return _done(choice, path, session_dir)


def _explored(session: Session) -> Sequence[ExploredBranch]:
    """The branches of explorations that began in it."""
    if not has_explorations(session.path):
        return ()
    from agentsh.cli.lookup.explorations import branches_shown, explorations_of

    return branches_shown(explorations_of(session), session.header.id)


def _laid(theme: Theme, lines: Iterable[PageLine]) -> Iterable[Laid]:
    """With the words that differ; it loads what colours code."""
    from agentsh.ui.paper.changes import page_lines

    return page_lines(lines, tinted=theme.tints_lines)


def _copy(terminal: Terminal, text: str) -> str:
    """Into the clipboard; what to say of it."""
    sent = copied(text, tmux=terminal.tmux)
    terminal.stdout.write(sent.sequence)
    terminal.stdout.flush()
    return sent.words


def _done(choice: NavigatorChoice, path: Path, session_dir: str | None) -> int:
    match choice:
        case Left():
            return 0
        case Forked(target):
            return fork(str(path), at=target, session_dir=session_dir)
        case Summed(target):
            return compact(ModelOptions(session_dir=session_dir), str(path), until=target)
        case Picked(target):
            return pick(ModelOptions(session_dir=session_dir), str(path), target)
        case Explored(name):
            from agentsh.cli.commands.exploring import explore_pick

            return explore_pick(name, session_dir=session_dir)
        case Went(target, summarize, files):
            options = ModelOptions(session_dir=session_dir)
            return checkout(options, str(path), target, summarize=summarize, files=files)
        case _:
            assert_never(choice)
