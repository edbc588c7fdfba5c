"""What a submitted line does: a prompt, a steer, `!command`, or a slash command by its name.

One method a command of commands.py, of the same name. Works on the chat through the `Chat` protocol
and on the session through the agent; errors of ours are shown, never raised.
Read next: commands.py, moves.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from agentsh.errors import AgentshError
from agentsh.messages import AssistantMessage
from agentsh.session.entries import BranchSummary, Compaction, MessageBody
from agentsh.ui.approval import allowed_words
from agentsh.ui.chat import Chat
from agentsh.ui.commands import find, help_text, key_text, split_command
from agentsh.ui.describe import notice_line
from agentsh.ui.moves import Moves
from agentsh.ui.pages import Page
from agentsh.ui.pickers import pick_model
from agentsh.ui.reader import read_pages
from agentsh.ui.sanitize import safe_line
from agentsh.ui.status import context_words, short_number, spending_words

_COMMAND = re.compile(r"^/[a-zA-Z][\w-]*(?:\s|$)")


class Actions:
    """Carries out what was typed."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._moves = Moves(chat)
        self._table: dict[str, Callable[[str], None]] = {
            "tree": self._moves.tree,
            "fork": self._moves.fork,
            "checkout": self._moves.checkout,
            "undo": self._moves.undo,
            "diff": self._moves.diff,
            "resume": self._moves.resume,
            "new": self._moves.new,
            "compact": self.compact,
            "model": self.model,
            "thinking": self.thinking,
            "label": self.label,
            "name": self.name,
            "session": self.session,
            "cost": self.cost,
            "copy": self.copy,
            "tools": self.tools,
            "approve": self.approve,
            "help": self.help,
            "hotkeys": self.hotkeys,
            "quit": self.quit,
        }

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._table)

    def submit(self, text: str) -> None:
        """Enter was pressed on this text."""
        if _COMMAND.match(text):
            self._command(text)
        elif text.startswith("!"):
            self._shell(text)
        elif self._chat.busy:
            self._guarded(lambda: self._chat.agent.steer(text))
            self._chat.refresh()
        else:
            self._chat.start_turn(text)

    def queue(self, text: str) -> None:
        """Alt-Enter while the agent works: for afterwards."""
        self._guarded(lambda: self._chat.agent.follow_up(text))
        self._chat.refresh()

    def tree(self) -> None:
        self._moves.tree("")

    def read(self, pages: Sequence[Page]) -> None:
        """What was folded, on the whole screen."""
        read_pages(pages, self._chat.terminal, self._chat.theme, copy=self._chat.copy)

    def show_session(self) -> None:
        """What a resumed session looked like, and what is odd about it."""
        session = self._chat.agent.session
        self._chat.view.replay(session.live())
        for notice in session.notices:
            self._chat.view.say(notice_line(notice), "warn")
        left = [text for text in self._chat.agent.pending() if text.strip()]
        if left:  # queued when the program was killed
            self._chat.set_draft("\n".join(left))
            self._chat.hint("this was queued and not sent")
        self._chat.refresh()

    # ---- commands -------------------------------------------------------------------------------

    def compact(self, argument: str) -> None:
        def job() -> None:
            for event in self._chat.agent.compact(argument or None):
                self._chat.post(event)

        self._chat.start(job)

    def model(self, argument: str) -> None:
        if argument:
            self._chat.agent.set_model(argument)
            self._chat.say(f"model: {argument}, from the next prompt on")
            self._chat.refresh_report()
            return

        def job() -> None:
            names = self._chat.host.models()
            self._chat.post(lambda: self._pick_model(names))

        self._chat.start(job)

    def _pick_model(self, names: Sequence[str]) -> None:
        if not names:
            self._chat.say("the endpoint lists no models; /model ID takes any name")
            return

        def choose() -> None:
            now = str(self._chat.agent.report().model)
            found = pick_model(names, now, self._chat.terminal, self._chat.theme)
            if found is not None:
                self.model(found)

        self._chat.show_screen(lambda: self._guarded(choose))

    def thinking(self, argument: str) -> None:
        if argument:
            self._chat.agent.set_thinking(argument)
            self._chat.refresh_report()
        report = self._chat.agent.report()
        self._chat.say(f"thinking: {report.thinking}")

    def label(self, argument: str) -> None:
        # what was said last, not a fact that came after it: that is what a tree shows
        said = (MessageBody, Compaction, BranchSummary)
        entries = self._chat.agent.session.live().entries
        place = next((e.id for e in reversed(entries) if isinstance(e.body, said)), None)
        if place is None:
            self._chat.say("there is nothing to label yet")
            return
        self._chat.agent.label(place, argument or None)
        self._chat.say(f"label: {argument}" if argument else "label cleared")

    def name(self, argument: str) -> None:
        if not argument:
            self._chat.say(f"name: {self._chat.agent.session.tree.name or '(none)'}")
            return
        self._chat.agent.rename(argument)
        self._chat.say(f"name: {argument}")

    def session(self, _: str) -> None:
        session = self._chat.agent.session
        path = "(not saved yet)" if session.path is None else str(session.path)
        name = session.tree.name
        self._chat.view.text(
            f"session  {session.header.id}"
            + (f"\nname     {name}" if name else "")
            + f"\nfile     {path}\nfolder   {session.header.cwd}\nleaf     {session.leaf or '-'}"
        )
        self._chat.refresh()

    def cost(self, _: str) -> None:
        report = self._chat.report
        if report is None:
            return
        usage = report.usage
        self._chat.view.text(
            f"input {short_number(usage.input)} · cached {short_number(usage.cache_read)} · "
            f"output {short_number(usage.output)} tokens · cost ${report.cost:.4f}\n"
            f"{spending_words(self._chat.agent.budget.spending())}\n"
            f"context {context_words(report.context_tokens, report.context_window) or 'unknown'}"
        )
        self._chat.refresh()

    def copy(self, _: str) -> None:
        for entry in reversed(self._chat.agent.session.live().entries):
            body = entry.body
            if not isinstance(body, MessageBody):
                continue
            if isinstance(body.message, AssistantMessage) and body.message.text.strip():
                self._chat.copy(body.message.text)
                self._chat.say("copied, where the terminal allows it (OSC 52)")
                return
        self._chat.say("there is no answer to copy yet")

    def tools(self, _: str) -> None:
        tools = self._chat.host.tools()
        lines = "\n".join(f"  {name:<8}{safe_line(words, 90)}" for name, words in tools)
        self._chat.view.text(lines or "  no tools are offered to the model")
        self._chat.refresh()

    def approve(self, argument: str) -> None:
        if argument:
            self._chat.host.set_policy(argument)
            self._chat.refresh_report()
        report = self._chat.agent.report()
        self._chat.say(f"approve: {report.policy} (never, ask, edits or all)")
        if report.allowed:
            rules = "\n".join(f"  {allowed_words(rule)}" for rule in report.allowed)
            self._chat.say("allowed besides in this session (/tree, to before it, takes it back):")
            self._chat.view.text(rules)
            self._chat.refresh()

    def help(self, _: str) -> None:
        self._chat.view.text(help_text(self._chat.keymap, self._chat.terminal.size[0] - 1))
        self._chat.refresh()

    def hotkeys(self, _: str) -> None:
        self._chat.view.text(key_text(self._chat.keymap, self._chat.terminal.size[0] - 1))
        self._chat.refresh()

    def quit(self, _: str) -> None:
        self._chat.leave()

    # ---- inside ---------------------------------------------------------------------------------

    def _command(self, line: str) -> None:
        name, argument = split_command(line)
        command = find(name)
        if command is None:
            self._chat.say(f"there is no command /{safe_line(name, 40)}; /help lists them", "warn")
        elif command.idle and self._chat.busy:
            self._chat.set_draft(line)
            self._chat.hint(f"/{name} waits for the end of the turn; Esc stops it")
        else:
            self._guarded(lambda: self._table[name](argument))

    def _shell(self, text: str) -> None:
        if self._chat.busy:
            self._chat.set_draft(text)
            self._chat.hint("a command waits for the end of the turn; Esc stops it")
            return
        excluded = text.startswith("!!")
        command = text.lstrip("!").strip()
        if not command:
            return
        self._chat.view.shell_started(command)

        def job() -> None:
            message = None
            try:
                message = self._chat.agent.shell(
                    command,
                    excluded=excluded,
                    progress=lambda text: self._chat.post(
                        lambda: self._chat.view.shell_printed(text)
                    ),
                )
            finally:
                self._chat.post(lambda: self._chat.view.shell_ended(message))

        self._chat.start(job)

    def _guarded(self, action: Callable[[], object]) -> None:
        try:
            action()
        except AgentshError as e:
            self._chat.complain(e)
