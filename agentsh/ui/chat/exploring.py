"""`/explore`: branches of explorations picked into this session; one started beside the chat.

What runs is a process of its own: it goes on when the chat is left, and `agentsh explore show
--follow` watches it. Read next: chat.py, docs/explore.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentsh.sanitize import safe_line
from agentsh.ui.asking.picker import PickRow, pick_row
from agentsh.ui.chat.chat import Chat
from agentsh.ui.input.commands import NO_EXPLORATION, explore_words
from agentsh.ui.protocols import ChatAgent


class Exploring:
    """Works on the chat; `switch` shows another agent's session."""

    def __init__(self, chat: Chat, switch: Callable[[ChatAgent], None]) -> None:
        self._chat = chat
        self._switch = switch

    def explore(self, argument: str) -> None:
        words = explore_words(argument)
        if words.action == "start":
            self._chat.look(lambda: self._say(self._chat.host.explore(words.text)))
        elif words.action == "pick":
            self.bring(words.text, overwrite=words.overwrite)
        else:
            self._chat.show_screen(lambda: self._chat.guarded(self._choose))

    def bring(self, branch: str, *, overwrite: bool = False) -> None:
        """Pick that branch; this session is opened anew with it."""
        chat = self._chat
        if chat.busy or chat.aside is not None:
            chat.hint("a branch is picked when nothing runs here; Esc stops it")
            return

        def job() -> None:
            agent, lines = chat.host.bring_explored(branch, overwrite=overwrite)
            chat.post(lambda: self._brought(agent, lines))

        chat.look(job)

    def _brought(self, agent: ChatAgent, lines: Sequence[str]) -> None:
        self._switch(agent)
        for line in lines:
            self._chat.view.say(safe_line(line))
        self._chat.refresh()

    def _choose(self) -> None:
        branches = self._chat.host.explored()
        if not branches:
            self._chat.say(NO_EXPLORATION)
            return
        rows = [PickRow(each.text, "", each.name) for each in branches]
        name = pick_row("branches of explorations: Enter brings one here", rows, self._chat.screen)
        if name is not None:
            self.bring(name)

    def _say(self, lines: Sequence[str]) -> None:
        self._chat.post(lambda: self._chat.say("\n".join(map(safe_line, lines))))
