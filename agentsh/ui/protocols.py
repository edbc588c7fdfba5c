"""What the ui needs of the agent and of the program around it: protocols, no code.

What every driver needs stands in agent/driven/host.py; here is what only a screen needs besides.
The real host is cli/assembly/host.py, and the ui never builds one. What they give are the values
themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from agentsh.abort import Abort
from agentsh.agent.driven.host import SessionAgent, SessionHost
from agentsh.agent.events import AgentEvent
from agentsh.session.format.entries import EntryId
from agentsh.settings import UiSettings
from agentsh.ui.paper.pages import PageLine
from agentsh.ui.terminal import Terminal
from agentsh.ui.theme import Theme
from agentsh.views.explored import ExploredBranch


class ChatAgent(SessionAgent, Protocol):
    """One session, as the chat drives it."""

    def retry(self, word: str | None = None) -> Iterator[AgentEvent]:
        """Ask for an answer (the last one) once more, beside the old one."""

    def aside(self, question: str, abort: Abort) -> Iterator[AgentEvent]:
        """Answer a side question, from any thread; a turn may run meanwhile."""


class ShownChange(Protocol):
    """What the user's settings file would say (cli/setup/changing.py)."""

    @property
    def file(self) -> Path: ...

    @property
    def before(self) -> str: ...

    @property
    def after(self) -> str: ...

    def lines(self) -> Iterator[tuple[str, str]]:
        """(`-` or `+`, line) of what differs."""

    def write(self) -> None: ...


class Host(SessionHost, Protocol):
    """The program around the chat: besides sessions what only a screen shows.

    Everything here may be slow, and may raise AgentshError.
    """

    def new_session(self, parent: Path | None = None) -> ChatAgent: ...

    def open_session(self, path: Path) -> ChatAgent: ...

    def settings(self) -> Sequence[tuple[str, str, str]]:
        """(name, value, source) of every setting; nothing secret."""

    def explain(self, name: str) -> Sequence[str]:
        """All about one setting, in lines."""

    def hides(self, name: str, typed: str) -> bool:
        """Whether what is typed for that setting must not be seen."""

    def change_setting(self, name: str, typed: str) -> ShownChange:
        """What the user's file would say with that; nothing is written yet."""

    def add_endpoint(
        self,
        ask: Callable[[str, Callable[[str], bool]], str | None],
        say: Callable[[str], None],
        abort: Abort | None = None,
    ) -> tuple[str, ShownChange]:
        """Ask for a new endpoint. Gives the word for `choose` and what to write.

        `ask` gives None where the person leaves, and is told which answers must not be seen; an
        abort ends what the endpoint is asked.
        """

    def reload(self) -> tuple[ChatAgent, Sequence[str]]:
        """Read settings and context files anew: the agent from now on, and what changed."""

    def looks(self, terminal: Terminal) -> tuple[UiSettings, Theme, Sequence[str]]:
        """How the settings want the chat to look; what is odd about that."""

    def diff(self, a: str | None, b: str | None) -> Sequence[PageLine]:
        """What differs from A (before the last prompt) to B (here), in lines that are safe."""

    def jobs(self, action: str, number: int | None) -> Sequence[str]:
        """`list`, `show` or `stop` of the jobs that the agent's commands left, in safe lines."""

    def servers(self, restart: str | None) -> Sequence[str]:
        """The MCP servers and what they offer, or the end of one; in lines that are safe."""

    def context(self, width: int) -> Sequence[str]:
        """What fills the window, in lines of this width that are safe."""

    def why(self, place: str, most: int) -> Sequence[str]:
        """Who wrote the lines of FILE[:LINE[-LINE]], in at most so many lines that are safe."""

    def explored(self) -> Sequence[ExploredBranch]:
        """Branches of this folder's explorations, those of the newest first."""

    def explore(self, words: str) -> Sequence[str]:
        """Begin an exploration from here, as a process of its own. What it said first."""

    def bring_explored(
        self, branch: str, *, overwrite: bool = False
    ) -> tuple[ChatAgent, Sequence[str]]:
        """Pick a branch. The agent from now on, in the session that it is in; what was done, or why
        it was not."""

    def file_difference(self, there: EntryId) -> Sequence[PageLine]:
        """What differs in the files from here to there, in lines that are safe."""

    def export(self, to: str, *, private: bool = False) -> Sequence[str]:
        """Write this session, redacted, to a new file. What was done, in lines.

        `private`: with what they ran for themself only.
        """
