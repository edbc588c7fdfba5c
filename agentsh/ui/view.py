"""The transcript of a chat with all that goes into it: turns, questions, replays, `!command`.

One object that the chat makes once, since it brings rich with it. Gives final text and a tail, as
live.py says; prints nothing itself. Read next: live.py, replay.py, repl.py.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from agentsh.agent.events import AgentEvent
from agentsh.messages import BashExecutionMessage, ToolCall, ToolCallId
from agentsh.session.entries import Branch
from agentsh.ui.cards import diff_text, shell_card
from agentsh.ui.live import Transcript
from agentsh.ui.pages import Page
from agentsh.ui.render import Renderer
from agentsh.ui.replay import MESSAGES_SHOWN, replay
from agentsh.ui.sanitize import safe_text
from agentsh.ui.terminal import Terminal
from agentsh.ui.theme import Role, Theme

_SHELL = "(shell)"


class TranscriptView:
    """Satisfies face.View."""

    def __init__(self, terminal: Terminal, theme: Theme) -> None:
        self._renderer = Renderer(terminal, theme)
        self._transcript = Transcript(self._renderer, time.monotonic)

    def feed(self, event: AgentEvent) -> None:
        self._transcript.feed(event)

    def take(self) -> str:
        return self._transcript.take()

    def tail(self, rows: int) -> list[str]:
        return self._transcript.tail(rows)

    def say(self, text: str, role: Role = "quiet") -> None:
        self._transcript.say(text, role)

    def text(self, text: str) -> None:
        """Lines as they are, in the plain foreground."""
        self._transcript.say(text, "plain")

    def ask(self, title: str, body: str, diff: str | None) -> None:
        """What the person is asked about; it stays in the scrollback, whole."""
        renderer = self._renderer
        self._transcript.say(title, "warn")
        self._transcript.add(renderer.ansi(renderer.styled(body, "tool")))
        if diff:
            self._transcript.add(renderer.ansi(diff_text(renderer, diff)))

    def replay(self, branch: Branch, messages: int = MESSAGES_SHOWN) -> None:
        replay(branch, self._transcript, self._renderer, messages)

    def pages(self, kind: str) -> Sequence[Page]:
        shelf = self._transcript.shelf
        return shelf.calls() if kind == "calls" else shelf.thoughts()

    def at_rest(self) -> None:
        self._transcript.at_rest()

    def use_theme(self, theme: Theme) -> None:
        self._renderer.use_theme(theme)

    def shell_started(self, command: str) -> None:
        self._transcript.start_call(_shell_call(command))

    def shell_printed(self, text: str) -> None:
        self._transcript.call_printed(_SHELL, safe_text(text))

    def shell_ended(self, message: BashExecutionMessage | None) -> None:
        self._transcript.end_call(_SHELL)
        if message is not None:
            self._transcript.add(shell_card(self._renderer, message))


def _shell_call(command: str) -> ToolCall:
    return ToolCall(ToolCallId(_SHELL), "!", {"command": command})
