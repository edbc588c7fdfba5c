"""A chat in this process: lines typed one after the other, and what was shown of them.

What takes the whole screen needs a terminal of its own (tests/support/terminal.py).
"""

from __future__ import annotations

import re
import select
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from prompt_toolkit.input import Input, create_pipe_input

from agentsh.ui.chat.chat import Chat, ChatOptions
from agentsh.ui.chat.repl import Repl
from agentsh.ui.chat.view import TranscriptView
from agentsh.ui.theme import Theme, choose_theme
from tests.ui.fakes import FakeAgent
from tests.ui.hosts import FakeHost
from tests.ui.screens import terminal

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|[\r\x07]")


Claim: TypeAlias = Callable[[Chat], object]
"""Of the chat, to be waited for."""


def typed(
    folder: Path, agent: FakeAgent, *lines: str, host: FakeHost | None = None, columns: int = 200
) -> str:
    """What stands on the screen, without codes, once each line has been typed and carried out."""
    return pressed(folder, agent, *(f"{line}\r" for line in lines), host=host, columns=columns)


def pressed(
    folder: Path,
    agent: FakeAgent,
    *steps: str | Claim,
    host: FakeHost | None = None,
    columns: int = 200,
    environ: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The same of keys. Before each the chat comes to rest, unless a claim stands before them."""
    screen = terminal(columns=columns, rows=50)
    theme = choose_theme("none", "dark", screen.colours)

    def view(theme: Theme) -> TranscriptView:
        return TranscriptView(screen, theme)

    with create_pipe_input() as pipe:
        options = ChatOptions(folder, folder, theme, environ=environ)
        repl = Repl(agent, host or FakeHost(agent), screen, view, options, keyboard_input=pipe)

        missed: list[Claim] = []

        def press_all() -> None:
            is_waited_for = False
            for step in steps:
                if isinstance(step, str):
                    if not is_waited_for:
                        _rests(repl, pipe)
                    pipe.send_text(step)
                elif not _comes(repl.chat, step):
                    missed.append(step)
                is_waited_for = not isinstance(step, str)
            _rests(repl, pipe)
            pipe.send_text("\x03/quit\r")  # Ctrl-C clears what was put back

        person = threading.Thread(target=press_all, daemon=True)
        person.start()
        repl.run()
        person.join(10)
        assert missed == []
    return _CONTROL.sub("", screen.stdout.getvalue())  # type: ignore[attr-defined]


def _comes(chat: Chat, claim: Claim) -> bool:
    until = time.monotonic() + 20
    while not (is_true := claim(chat)) and time.monotonic() < until:
        time.sleep(0.01)
    return bool(is_true)


def _rests(repl: Repl, keys: Input) -> None:
    """Until all that was typed is read, nothing runs and nothing changes for a quarter second."""
    chat = repl.chat
    since, until = time.monotonic(), time.monotonic() + 20
    draft = ""
    while time.monotonic() < min(until, since + 0.25):
        is_read = not select.select([keys.fileno()], [], [], 0)[0]
        is_free = chat.started and not chat.busy and chat.worker.join(0)
        if not (is_read and is_free and chat.editor.draft == draft):
            since, draft = time.monotonic(), chat.editor.draft
        time.sleep(0.01)
