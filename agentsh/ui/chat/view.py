"""The transcript of a chat with all that goes into it: turns, questions, replays, `!command`.

One object that the chat makes once, since it brings rich with it. Gives final text and a tail, as
transcript.py says; prints nothing itself. Read next: transcript.py, backlog.py, repl.py.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from agentsh.agent.events import AgentEvent
from agentsh.messages import BashExecutionMessage, ToolCall, ToolCallId
from agentsh.sanitize import safe_line, safe_text
from agentsh.session.format.entries import Branch
from agentsh.ui.chat.backlog import MESSAGES_SHOWN, show_backlog
from agentsh.ui.paper.cards import printed_lines, question_text, shell_card
from agentsh.ui.paper.changes import page_lines
from agentsh.ui.paper.pages import Page, PageLine
from agentsh.ui.paper.render import Renderer
from agentsh.ui.paper.rows import Laid
from agentsh.ui.paper.transcript import Transcript
from agentsh.ui.terminal import Terminal
from agentsh.ui.theme import Role, Theme

_SHELL = "(shell)"


class TranscriptView:
    """What the chat shows, before and after anything is printed."""

    def __init__(self, terminal: Terminal, theme: Theme, folder: str = "") -> None:
        self._renderer = Renderer(terminal, theme, folder)
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

    def beside(self, text: str, quiet: str) -> None:
        """Words for a person, and beside them in a quiet colour what may be copied: an id."""
        line = [(safe_line(text), ""), (f"  {safe_line(quiet)}" if quiet else "", "quiet")]
        self._transcript.add("\n" + "".join(self._renderer.lines(line, 2)))

    def copyable(self, text: str) -> None:
        """Lines with a path or a command in them, which are not broken: they are copied whole."""
        lines = [self._renderer.paint([(line, "")]) for line in safe_text(text).split("\n")]
        self._transcript.add("\n" + "".join(f"{line}\n" for line in lines))

    def whole(self, text: str) -> None:
        """An answer that stands by itself, whatever is written meanwhile."""
        self._transcript.whole(text)

    def page(self, lines: Sequence[PageLine]) -> None:
        """Lines that have a look each."""
        self._transcript.add("\n" + printed_lines(self._renderer, self.lay(lines)))

    def lay(self, lines: Iterable[PageLine]) -> Iterable[Laid]:
        """The same to be read on the whole screen."""
        return page_lines(lines, tinted=self._renderer.theme.tints_lines)

    def ask(self, title: str, body: str, diff: str | None, file: str = "") -> None:
        """What the person is asked about; it stays in the scrollback, whole."""
        self._transcript.ask(question_text(self._renderer, title, body, diff, file))

    @property
    def question_rows(self) -> int:
        """Rows of the question, while it is the last that was printed."""
        return self._transcript.question_rows

    def replay(self, branch: Branch, messages: int = MESSAGES_SHOWN) -> None:
        show_backlog(branch, self._transcript, self._renderer, messages)

    def pages(self, kind: str) -> Sequence[Page]:
        shelf = self._transcript.shelf
        return shelf.calls() if kind == "calls" else shelf.thoughts()

    def forget(self) -> None:
        """Nothing of what was shown can be unfolded any more."""
        self._transcript.shelf.clear()

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
