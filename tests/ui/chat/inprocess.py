"""A chat in this process: lines typed one after the other, and what was shown of them.

What takes the whole screen needs a terminal of its own (tests/support/terminal.py).
"""

from __future__ import annotations

import re
import select
import threading
import time
from pathlib import Path

from prompt_toolkit.input import Input, create_pipe_input

from agentsh.ui.chat.chat import ChatOptions
from agentsh.ui.chat.repl import Repl
from agentsh.ui.chat.view import TranscriptView
from agentsh.ui.theme import Theme, choose_theme
from tests.ui.fakes import FakeAgent
from tests.ui.hosts import FakeHost
from tests.ui.screens import terminal

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|[\r\x07]")


def typed(
    folder: Path, agent: FakeAgent, *lines: str, host: FakeHost | None = None, columns: int = 200
) -> str:
    """What stands on the screen, without codes, once each line has been typed and carried out."""
    screen = terminal(columns=columns, rows=50)
    theme = choose_theme("none", "dark", screen.colours)

    def view(theme: Theme) -> TranscriptView:
        return TranscriptView(screen, theme)

    with create_pipe_input() as pipe:
        options = ChatOptions(folder, folder, theme)
        repl = Repl(agent, host or FakeHost(agent), screen, view, options, keyboard_input=pipe)

        def type_all() -> None:
            for line in lines:
                _rests(repl, pipe)
                pipe.send_text(line + "\r")
            _rests(repl, pipe)
            pipe.send_text("\x03/quit\r")  # Ctrl-C clears what was put back

        person = threading.Thread(target=type_all, daemon=True)
        person.start()
        repl.run()
        person.join(10)
    return _CONTROL.sub("", screen.stdout.getvalue())  # type: ignore[attr-defined]


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
