"""The chat as its commands see it: a protocol, which repl.py satisfies.

It stands apart so that commands do not know the editor, nor the editor each command.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from agentsh.agent.events import AgentEvent
from agentsh.errors import AgentshError
from agentsh.ui.face import AgentReport, ChatAgent, Host, View
from agentsh.ui.keymap import Keymap
from agentsh.ui.terminal import Terminal
from agentsh.ui.theme import Role, Theme


class Chat(Protocol):
    """The chat, as actions use it (repl.py)."""

    agent: ChatAgent
    host: Host
    terminal: Terminal
    report: AgentReport | None
    busy: bool

    theme: Theme

    @property
    def view(self) -> View: ...

    def say(self, text: str, role: Role = "quiet") -> None: ...

    def complain(self, error: AgentshError) -> None: ...

    def hint(self, text: str) -> None: ...

    @property
    def keymap(self) -> Keymap: ...

    def set_draft(self, text: str) -> None: ...

    def put_back(self, text: str) -> None: ...

    def start(self, job: Callable[[], None]) -> None: ...

    def start_turn(self, text: str) -> None: ...

    def post(self, news: AgentEvent | Callable[[], None]) -> None:
        """From a job's thread: show this event, or call this, in the chat's own."""

    def show_screen(self, job: Callable[[], None]) -> None: ...

    def use(self, agent: ChatAgent) -> None: ...

    def refresh(self) -> None: ...

    def refresh_report(self) -> None: ...

    def copy(self, text: str) -> None: ...

    def leave(self) -> None: ...
