"""`agentsh`, `agentsh chat`: a person at a terminal, in a session.

Decides which chat fits the terminal: the editor, or plain lines (TERM=dumb); a stdin that is no
terminal is one prompt, as `run -`. rich is loaded by a thread of the chat once its prompt stands,
through `_view`. Read next: ui/chat/repl.py, ui/chat/plainchat.py, host.py.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec.structs import replace

from agentsh.cli.notices import agrees, complain, warn
from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.cli.parsing.options import (
    Attach,
    Continue,
    ForkOption,
    FromEntry,
    PlainLines,
    SessionOption,
)
from agentsh.cli.parsing.words import Argument
from agentsh.errors import NoPromptError, UsageError
from agentsh.files import is_there
from agentsh.shellwords import shell_line

if TYPE_CHECKING:
    from agentsh.cli.assembly.host import ChatHost
    from agentsh.cli.assembly.wiring import Wired
    from agentsh.cli.lookup.choosing import Chosen, StartAt
    from agentsh.cli.setup.configuration import Configuration
    from agentsh.providers.base import Provider
    from agentsh.session.file.session import Session
    from agentsh.ui.chat.chat import ChatOptions
    from agentsh.ui.chat.view import TranscriptView
    from agentsh.ui.terminal import Terminal
    from agentsh.ui.theme import Theme

GO_ON = "Go on where you were interrupted."
"""Offered as the draft after a crash in the middle of a turn; nothing is sent by itself."""


def chat(
    options: TurnOptions,
    prompt: Annotated[str | None, Argument(help="first prompt")] = None,
    last: Continue = False,
    session: SessionOption = None,
    fork: ForkOption = None,
    at: FromEntry = None,
    attach: Attach = [],  # noqa: B006  # typer's way to say "none given"; never changed
    plain: PlainLines = False,
) -> int:
    """Chat in this directory: a new session, or -c the last one."""
    from agentsh.cli.assembly.safety import confine
    from agentsh.cli.lookup.choosing import StartAt, open_chosen
    from agentsh.cli.setup.configuration import configure
    from agentsh.ui.terminal import describe_terminal

    terminal = describe_terminal(sys.stdin, sys.stdout, sys.stderr, os.environ)
    start = StartAt(last, session, fork, at)
    if not terminal.stdin_tty:
        return run_once("a chat", prompt, options, start, attach)
    if attach:
        raise UsageError("--attach is an option of `run`", hint="in a chat, name the file with @")
    cwd = Path.cwd()
    configuration = configure(options, os.environ, cwd, asker_of_trust(terminal))
    warn(configuration.notices)
    confine(configuration, cwd)  # without a sandbox that was asked for, nothing is even opened
    chosen = open_chosen(configuration.places, cwd, start)
    terminal = plainly(terminal, plain or configuration.settings.ui.plain)
    return talk(configuration, options, chosen, terminal, prompt)


def plainly(terminal: Terminal, plain: bool) -> Terminal:
    """Lines only, where the person wants it so."""
    return replace(terminal, dumb=True) if plain else terminal


def talk(
    configuration: Configuration,
    options: TurnOptions,
    chosen: Chosen,
    terminal: Terminal,
    prompt: str | None,
) -> int:
    """Chat in the chosen session, and close it. Gives the exit code."""
    from agentsh.cli.assembly.host import ChatHost
    from agentsh.cli.assembly.restoring import restored
    from agentsh.cli.lookup.interrupted import STOPPED, check_way

    try:
        check_way(options.on_interrupted)
        back = restored(configuration, options, chosen.session, resumed=chosen.resumed)
        provider = _provider(back.configuration, options, terminal)
    except BaseException:
        chosen.let_go()
        raise
    host, code = ChatHost(configuration, options, provider, chosen.cwd), 0
    try:
        wired = host.start(chosen, back)
        warn([*wired.notices, *_shadowed(configuration, chosen.cwd)])
        if not _goes_on(wired, options, chosen):
            return STOPPED
        if terminal.is_interactive:
            card = _answers_unasked(back.configuration, options, provider)
            code = _edit(configuration, host, wired, chosen, terminal, prompt, card)
        else:
            code = _lines(host, wired, chosen, terminal, prompt)
    finally:
        ended = host.agent.session if host.agent is not None else chosen.session
        is_told = ended.path is not None and ended.saved and ended.leaf is not None
        host.close()
        provider.close()
    if is_told and terminal.stdout_tty:
        _say_how_to_go_on(ended, configuration, terminal)
    return code


def _goes_on(wired: Wired, options: TurnOptions, chosen: Chosen) -> bool:
    """A chat need not ask: the next prompt is the decision."""
    from agentsh.cli.lookup.interrupted import may_go_on

    goes_on = may_go_on(wired.agent, options.on_interrupted or "ask", lambda _question: True)
    if goes_on:
        chosen.keep_move()
    else:
        chosen.drop_move()
    return goes_on


def _shadowed(configuration: Configuration, cwd: Path) -> list[str]:
    """Templates of a name that is a command's."""
    from agentsh.cli.setup.skills.expanding import shadowed_templates
    from agentsh.ui.input.commands import SLASH_COMMANDS

    return shadowed_templates(configuration, cwd, {command.name for command in SLASH_COMMANDS})


def _say_how_to_go_on(session: Session, configuration: Configuration, terminal: Terminal) -> None:
    from agentsh.cli.lookup.finding import store_of
    from agentsh.session.store.naming import command_hint

    words = store_of(configuration.places).words(session.header.id, session.path)
    with suppress(OSError):  # the terminal may be gone
        terminal.stderr.write(f"go on with: {command_hint('resume', words)}\n")


def _provider(configuration: Configuration, options: TurnOptions, terminal: Terminal) -> Provider:
    """Who answers; where nobody is configured, a person may still look around."""
    from agentsh.cli.setup.endpoint import make_provider

    try:
        return make_provider(configuration, options, lambda text: warn([text]))
    except UsageError as e:
        if not terminal.is_interactive:
            raise
        from agentsh.providers.local.absent import AbsentProvider

        complain(e)
        return AbsentProvider(str(e), e.hint)


def _lines(
    host: ChatHost, wired: Wired, chosen: Chosen, terminal: Terminal, prompt: str | None
) -> int:
    """Chat by lines until the person leaves, or somebody ends the process; the exit code."""
    from agentsh.ui.chat.plainchat import PlainChat

    lines = PlainChat(wired.agent, host, terminal)
    lines.run(prompt, resumed=chosen.resumed, returned=wired.returned)
    return 0 if lines.ended_by is None else 128 + lines.ended_by


def _edit(
    configuration: Configuration,
    host: ChatHost,
    wired: Wired,
    chosen: Chosen,
    terminal: Terminal,
    prompt: str | None,
    is_embedded: bool,
) -> int:
    """Chat until the person leaves, or somebody ends the process; the exit code.

    `is_embedded`: nobody said who is to answer, and that is told first.
    """
    from agentsh.ui.chat.repl import Repl
    from agentsh.ui.input.commands import EMBEDDED_CARD

    options = _options(configuration, host, wired, chosen, terminal, prompt)
    if is_embedded:
        options = replace(options, hello=f"{options.hello}\n\n{EMBEDDED_CARD}")
    repl = Repl(wired.agent, host, terminal, lambda theme: _view(terminal, theme), options)
    repl.run()
    return 0 if repl.ended_by is None else 128 + repl.ended_by


def _options(
    configuration: Configuration,
    host: ChatHost,
    wired: Wired,
    chosen: Chosen,
    terminal: Terminal,
    prompt: str | None,
) -> ChatOptions:
    """What the chat is told of its surroundings; what is odd in them is said before it."""
    from agentsh.cli.assembly.themes import theme_in_force
    from agentsh.ui.chat.chat import HELLO, ChatOptions
    from agentsh.ui.input.commands import FIRST_PAGE
    from agentsh.ui.input.keymap import make_keymap

    settings, places = configuration.settings, configuration.places
    keymap = make_keymap(settings.ui.keys)
    theme, notices = theme_in_force(configuration, terminal)
    warn([*keymap.warnings, *notices])
    return ChatOptions(
        cwd=chosen.cwd,
        home=Path.home(),
        theme=theme,
        ask_background=settings.ui.theme == "auto" and terminal.background == "unknown",
        history=places.history,
        drafts=places.drafts,
        first_prompt=prompt,
        resumed=chosen.resumed,
        returned=wired.returned,
        offer=GO_ON if wired.agent.interrupted() is not None else None,
        bell=settings.ui.bell,
        notify=settings.ui.notify,
        vi=settings.ui.vi,
        keymap=keymap,
        hello=HELLO if is_there(places.history) or chosen.resumed else FIRST_PAGE,
        environ=configuration.environ,
        status=settings.ui.status,
        models=host.named_models(),
    )


def _answers_unasked(
    configuration: Configuration, options: TurnOptions, provider: Provider
) -> bool:
    """The embedded model answers, and nobody named it."""
    if configuration.settings.endpoint.base_url is not None or options.local is not None:
        return False
    from agentsh.providers.local.local import PROVIDER

    return provider.name == PROVIDER


def _view(terminal: Terminal, theme: Theme) -> TranscriptView:
    from agentsh.ui.chat.view import TranscriptView

    return TranscriptView(terminal, theme, str(Path.cwd()))


def asker_of_trust(terminal: Terminal) -> Callable[[str], bool] | None:
    """A question of trust, as a line; Enter alone is no."""
    if not terminal.stdout_tty:
        return None

    def ask(question: str) -> bool:
        return agrees(question, terminal.stdout, terminal.stdin)

    return ask


def run_once(
    what: str,
    prompt: str | None,
    options: TurnOptions,
    start: StartAt,
    attach: list[str],
) -> int:
    """Without a terminal to type at: one turn; without a prompt, stdin is it.

    Raises UsageError: there is neither, so `what` wants its terminal.
    """
    from msgspec.structs import asdict

    from agentsh.cli.commands.run import run
    from agentsh.cli.parsing.modeloptions import RunOptions

    said = prompt if prompt is not None else "-"
    try:
        turn = RunOptions(**asdict(options))
        return run(turn, said, start.last, start.session, start.fork, start.at, attach)
    except NoPromptError as e:
        words = ["agentsh", "run", *(["-c"] if start.last else [])]
        words += [] if start.session is None else ["--session", start.session]
        words += [] if options.session_dir is None else ["--session-dir", options.session_dir]
        raise UsageError(
            f"{what} needs a terminal to type at; here standard input is none, and says nothing",
            hint=f"without a terminal: `{shell_line(words)} PROMPT`",
        ) from e
