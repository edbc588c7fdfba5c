"""`agentsh`, `chat`, `resume`: a person at a terminal, in a session.

Decides which chat fits the terminal: the editor, or plain lines (TERM=dumb); a stdin that is no
terminal is one prompt, as `run -`. rich is loaded by a thread of the chat once its prompt stands,
through `_view`. Read next: ui/repl.py, ui/plainchat.py, host.py.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from agentsh.agent.agent import Agent
from agentsh.cli.choosing import Choice, Chosen, choose
from agentsh.cli.configuration import Configuration, configure
from agentsh.cli.endpoint import make_provider
from agentsh.cli.host import ChatHost
from agentsh.cli.interrupted import STOPPED, check_way, may_go_on
from agentsh.cli.modeloptions import TurnOptions
from agentsh.cli.notices import complain, warn
from agentsh.cli.safety import confine
from agentsh.cli.tooling import end_commands
from agentsh.errors import SessionNotFoundError, UsageError
from agentsh.providers.base import Provider
from agentsh.ui.face import View
from agentsh.ui.sanitize import safe_text
from agentsh.ui.terminal import Terminal, describe
from agentsh.ui.theme import Theme
from agentsh.ui.theme import choose as choose_theme

GO_ON = "Go on where you were interrupted."
"""Offered as the draft after a crash in the middle of a turn; nothing is sent by itself."""


def chat(
    prompt: str | None,
    options: TurnOptions,
    *,
    last: bool,
    session: str | None,
    fork: str | None,
    at: str | None,
    attach: tuple[str, ...],
    plain: bool = False,
) -> int:
    """Chat in a new session, or the chosen one. Gives the exit code."""
    terminal = describe(sys.stdin, sys.stdout, sys.stderr, os.environ)
    if not terminal.stdin_tty:
        return _run_once(prompt, options, last, session, fork, at, attach)
    if attach:
        raise UsageError("--attach is an option of `run`", hint="in a chat, name the file with @")
    cwd = Path.cwd()
    configuration = configure(options, os.environ, cwd, _ask(terminal))
    warn(configuration.notices)
    confine(configuration, cwd)  # without a sandbox that was asked for, nothing is even opened
    chosen = choose(configuration.places, cwd, Choice(last, session, fork, at))
    terminal = _plainly(terminal, plain or configuration.settings.plain)
    return _talk(configuration, options, chosen, terminal, prompt)


def resume(session: str | None, options: TurnOptions, *, plain: bool = False) -> int:
    """Chat in a session that there is; without a word, pick one."""
    terminal = describe(sys.stdin, sys.stdout, sys.stderr, os.environ)
    if not terminal.stdin_tty:
        return _run_once(None, options, session is None, session, None, None, ())
    cwd = Path.cwd()
    configuration = configure(options, os.environ, cwd, _ask(terminal))
    warn(configuration.notices)
    confine(configuration, cwd)  # without a sandbox that was asked for, nothing is even opened
    terminal = _plainly(terminal, plain or configuration.settings.plain)
    word = session if session is not None else _picked(configuration, terminal, cwd)
    if word is None:
        return 0
    chosen = choose(configuration.places, cwd, Choice(session=word))
    return _talk(configuration, options, chosen, terminal, None)


def _plainly(terminal: Terminal, plain: bool) -> Terminal:
    """Lines only, where the person wants it so."""
    return replace(terminal, dumb=True) if plain else terminal


def _talk(
    configuration: Configuration,
    options: TurnOptions,
    chosen: Chosen,
    terminal: Terminal,
    prompt: str | None,
) -> int:
    try:
        check_way(options.on_interrupted)
        provider = _provider(configuration, options, terminal)
    except BaseException:
        chosen.session.close()
        raise
    host = ChatHost(configuration, options, provider, chosen.cwd)
    code = 0
    try:
        wired = host.start(chosen)
        warn(wired.notices)
        # a chat need not ask: the next prompt is the decision
        if not may_go_on(wired.agent, options.on_interrupted or "ask", lambda _question: True):
            return STOPPED
        if terminal.is_interactive:
            code = _edit(configuration, host, wired.agent, chosen, terminal, prompt)
        else:
            from agentsh.ui.plainchat import PlainChat

            PlainChat(wired.agent, host, terminal).run(prompt, resumed=chosen.resumed)
    finally:
        ended = host.agent.session if host.agent is not None else chosen.session
        told = ended.path is not None and ended.saved and ended.leaf is not None
        host.close()
        provider.close()
        end_commands()
    if told and terminal.stdout_tty:
        with suppress(OSError):  # the terminal may be gone
            terminal.stderr.write(f"go on with: agentsh resume {ended.header.id}\n")
    return code


def _provider(configuration: Configuration, options: TurnOptions, terminal: Terminal) -> Provider:
    """Who answers; where nobody is configured, a person may still look around."""
    try:
        return make_provider(configuration, options, lambda text: warn([text]))
    except UsageError as e:
        if not terminal.is_interactive:
            raise
        from agentsh.providers.absent import AbsentProvider

        complain(e)
        return AbsentProvider(str(e), e.hint)


def _edit(
    configuration: Configuration,
    host: ChatHost,
    agent: Agent,
    chosen: Chosen,
    terminal: Terminal,
    prompt: str | None,
) -> int:
    """Chat until the person leaves, or somebody ends the process; the exit code."""
    from agentsh.ui.chatoptions import HELLO, ChatOptions
    from agentsh.ui.commands import FIRST_PAGE
    from agentsh.ui.keymap import make_keymap
    from agentsh.ui.repl import Repl

    settings, places = configuration.settings, configuration.places
    keymap = make_keymap(settings.keys)
    warn(keymap.warnings)
    is_new = not places.history.exists() and not chosen.resumed
    chat_options = ChatOptions(
        cwd=chosen.cwd,
        home=Path.home(),
        theme=choose_theme(settings.theme, terminal.background, terminal.colours),
        ask_background=settings.theme == "auto" and terminal.background == "unknown",
        history=places.history,
        drafts=places.drafts,
        first_prompt=prompt,
        resumed=chosen.resumed,
        offer=GO_ON if agent.interrupted() is not None else None,
        bell=settings.bell,
        notify=settings.notify,
        vi=settings.vi,
        keymap=keymap,
        hello=FIRST_PAGE if is_new else HELLO,
    )
    repl = Repl(agent, host, terminal, lambda theme: _view(terminal, theme), chat_options)
    repl.run()
    return 0 if repl.ended_by is None else 128 + repl.ended_by


def _view(terminal: Terminal, theme: Theme) -> View:
    from agentsh.ui.view import TranscriptView

    return TranscriptView(terminal, theme)


def _picked(configuration: Configuration, terminal: Terminal, cwd: Path) -> str | None:
    """A session of this folder, picked on the screen; None: left without."""
    from agentsh.cli.sessionkeeper import StoreKeeper

    keeper = StoreKeeper(configuration.places, cwd)
    if not keeper.sessions():
        raise SessionNotFoundError(
            f"there is no session of {cwd}", hint="`agentsh sessions --all` lists all"
        )
    if not terminal.is_interactive:
        return "last"
    from agentsh.ui.pickers import pick_session

    theme = choose_theme(configuration.settings.theme, terminal.background, terminal.colours)
    row = pick_session(keeper, terminal, theme)
    return None if row is None else str(row.path)


def _ask(terminal: Terminal) -> Callable[[str], bool] | None:
    """A question of trust, as a line; Enter alone is no."""
    if not terminal.stdout_tty:
        return None

    def ask(question: str) -> bool:
        terminal.stdout.write(f"{safe_text(question)} [y/N] ")
        terminal.stdout.flush()
        return terminal.stdin.readline().strip().lower() in ("y", "yes")

    return ask


def _run_once(
    prompt: str | None,
    options: TurnOptions,
    last: bool,
    session: str | None,
    fork: str | None,
    at: str | None,
    attach: tuple[str, ...],
) -> int:
    from agentsh.cli.run import start

    return start(
        prompt if prompt is not None else "-",
        options,
        last=last,
        session=session,
        fork=fork,
        at=at,
        attach=attach,
        output="text",
        max_steps=None,
    )
