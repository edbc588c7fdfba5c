"""What a submitted line does: a prompt, a steer, `!command`, or a slash command by its name.

One method a command of commands.py, of the same name. Works on the chat (chat.py) and
on the session through the agent; errors of ours are shown, never raised.
Read next: commands.py, navigation.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentsh.abort import Abort
from agentsh.agent.config import ModelChoice
from agentsh.agent.prompts.expansion import PromptCommand
from agentsh.errors import AgentshError, SkillNotFoundError
from agentsh.messages import AssistantMessage, Image
from agentsh.sanitize import safe_line
from agentsh.session.file.resolve import last_said
from agentsh.session.format.entries import MessageBody
from agentsh.ui.asking.approval import allowed_words
from agentsh.ui.asking.pickers import pick_model
from agentsh.ui.asking.reader import read_pages
from agentsh.ui.chat.about import session_text
from agentsh.ui.chat.chat import Chat
from agentsh.ui.chat.configuring import Configuring
from agentsh.ui.chat.navigation import Moves
from agentsh.ui.chat.sidequestion import SideQuestion
from agentsh.ui.chat.worker import Awaited
from agentsh.ui.input.commands import (
    JOBS_USAGE,
    SERVERS_USAGE,
    calls_prompt,
    card_text,
    export_words,
    help_text,
    is_command,
    job_words,
    key_text,
    means_leaving,
    no_command,
    prompt_rows,
    server_words,
    slash_command,
    split_command,
)
from agentsh.ui.paper.pages import Page, PageLine
from agentsh.ui.state.answers import (
    approve_words,
    kept_words,
    model_words,
    resumed_words,
    thinking_words,
)
from agentsh.ui.state.footer import cost_words
from agentsh.ui.status import spending_words
from agentsh.views.describe import notice_line

_BELOW = 6
"""Rows that the prompt, what stands around it and the command itself take."""


class Actions:
    """Carries out what was typed."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._moves = Moves(chat)
        own = Configuring(chat)
        self._table: dict[str, Callable[[str], None]] = {
            "tree": self._moves.tree,
            "fork": self._moves.fork,
            "checkout": self._moves.checkout,
            "undo": self._moves.undo,
            "retry": self._moves.retry,
            "btw": SideQuestion(chat).ask,
            "diff": self._moves.diff,
            "why": self._moves.why,
            "resume": self._moves.resume,
            "new": self._moves.new,
            "clear": self._moves.new,
            "explore": self._moves.exploring.explore,
            "compact": self._moves.compact,
            "context": self._moves.context,
            "model": self.model,
            "thinking": self.thinking,
            "label": self.label,
            "name": self.name,
            "session": self.session,
            "cost": self.cost,
            "export": self.export,
            "copy": self.copy,
            "tools": self.tools,
            "jobs": self.jobs,
            "mcp": self.servers,
            "settings": own.settings,
            "endpoint": own.endpoint,
            "reload": own.reload,
            "approve": self.approve,
            "help": self.help,
            "hotkeys": self.hotkeys,
            "quit": self.quit,
            "exit": self.quit,
        }

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._table)

    def submit(self, text: str, *, said: bool = False) -> None:
        """Enter was pressed on this text. `said`: it is for the model, however it begins."""
        if not said and means_leaving(text):
            self.quit("")
        elif not said and self._is_command(text):
            self._command(text)
        elif not said and text.startswith("!"):
            self._shell(text)
        elif self._chat.busy:
            self._say(text, self._chat.agent.steer)
            self._chat.refresh()
        else:
            self._chat.start_turn(text)

    def queue(self, text: str, *, said: bool = False) -> None:
        """Alt-Enter while the agent works: for afterwards. A command is one here, too."""
        if not said and (text.startswith("!") or means_leaving(text) or self._is_command(text)):
            self.submit(text)
            return
        self._say(text, self._chat.agent.follow_up)
        self._chat.refresh()

    def _say(self, text: str, say: Callable[[str, tuple[Image, ...]], object]) -> None:
        """With what is attached; what could not be said stays in the editor."""
        attached = self._chat.editor.take_attachments()
        try:
            say(text, tuple(each.image for each in attached))
        except AgentshError as e:
            self._chat.set_draft(text, said=not isinstance(e, SkillNotFoundError))
            self._chat.editor.attachments = attached
            self._chat.complain(e)

    def _is_command(self, text: str) -> bool:
        return is_command(text) and not calls_prompt(text, self._prompts())

    def _prompts(self) -> Sequence[PromptCommand]:
        return self._chat.agent.expander.commands()

    def tree(self) -> None:
        self._moves.tree("")

    def read(self, kind: str) -> None:
        """Calls or thoughts unfolded, on the whole screen."""
        chat = self._chat
        pages = chat.view.pages(kind)
        if not pages:
            chat.hint(f"there are no {'tool calls' if kind == 'calls' else kind} yet")
            return
        chat.show_screen(lambda: read_pages(pages, chat.screen, copy=chat.copy, lay=chat.view.lay))

    def show_session(self) -> None:
        """What a resumed session looked like, and what is odd about it."""
        session = self._chat.agent.session
        if words := resumed_words(self._chat.state, self._chat.options.returned):
            self._chat.view.say(words)
        self._chat.view.replay(session.live())
        for notice in session.notices:
            self._chat.view.say(notice_line(notice), "warn")
        left = [each for each in self._chat.agent.pending() if each.text.strip() or each.images]
        if left:  # queued when the program was killed
            self._chat.editor.take_in(left)
            self._chat.hint("this was queued and not sent")
        self._chat.refresh()

    # ---- commands -------------------------------------------------------------------------------

    def model(self, argument: str) -> None:
        chat = self._chat

        asked = Awaited("a list of models" if argument else "the lists of models", Abort())

        def choose() -> None:
            notices = chat.host.choose(argument, asked.abort)
            chat.post(lambda: self._chosen(notices))

        def look() -> None:
            choices = chat.host.choices(asked.abort)
            chat.post(lambda: self._pick_model(choices, is_wanted=not asked.abort.is_set))

        chat.look(choose if argument else look, asked)

    def _chosen(self, notices: Sequence[str]) -> None:
        """It was carried out: what is in force now."""
        self._chat.refresh_report()
        self._chat.say("; ".join((model_words(self._chat.state), *map(safe_line, notices))))

    def _pick_model(self, choices: Sequence[ModelChoice], *, is_wanted: bool) -> None:
        self._chat.editor.completer.models = [choice.word for choice in choices if choice.model]
        for choice in choices:
            if not choice.model:
                self._chat.say(f"{choice.endpoint}: {safe_line(choice.note)}", "warn")
        if not is_wanted:
            self._chat.say("stopped; /model ID takes any name")
            return
        if not any(choice.model for choice in choices):
            self._chat.say("no endpoint lists a model; /model ID takes any name")
            return

        def choose() -> None:
            state = self._chat.state
            choice = pick_model(choices, f"{state.endpoint}/{state.model}", self._chat.screen)
            if choice is not None:
                self.model(choice)

        self._chat.show_screen(lambda: self._chat.guarded(choose))

    def thinking(self, argument: str) -> None:
        if argument:
            self._chat.agent.set_thinking(argument)
            self._chat.refresh_report()
        self._chat.say(thinking_words(self._chat.state))

    def label(self, argument: str) -> None:
        entry = last_said(self._chat.agent.session.live().entries)
        if entry is None:
            self._chat.say("there is nothing to label yet")
            return
        self._chat.agent.label(entry, argument or None)
        self._chat.say(f"label: {argument}" if argument else "label cleared")

    def name(self, argument: str) -> None:
        if not argument:
            self._chat.say(f"name: {self._chat.agent.session.tree.name or '(none)'}")
            return
        self._chat.agent.rename(argument)
        self._chat.say(f"name: {argument}")

    def session(self, _: str) -> None:
        # while a turn runs its thread writes the file that would be counted
        text = session_text(self._chat.agent.session, counted=not self._chat.busy)
        self._chat.view.copyable(f"{text}\n{kept_words(self._chat.state)}")
        self._chat.refresh()

    def cost(self, _: str) -> None:
        spending = spending_words(self._chat.agent.budget.spending())
        self._chat.view.text(cost_words(self._chat.state, spending))
        self._chat.refresh()

    def export(self, argument: str) -> None:
        if not argument:
            self._chat.say("name the file: /export talk.md (or .html, .jsonl)")
            return
        to, private = export_words(argument)

        def job() -> None:
            lines = self._chat.host.export(to, private=private)
            self._chat.post(lambda: self._chat.view.copyable("\n".join(lines)))

        self._chat.look(job)

    def copy(self, _: str) -> None:
        for entry in reversed(self._chat.agent.session.live().entries):
            body = entry.body
            if not isinstance(body, MessageBody):
                continue
            if isinstance(body.message, AssistantMessage) and body.message.text.strip():
                self._chat.say(self._chat.copy(body.message.text))
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
        state = self._chat.state
        self._chat.say(approve_words(state))
        if state.allowed:
            rules = "\n".join(f"  {allowed_words(rule)}" for rule in state.allowed)
            self._chat.say("allowed besides in this session (/tree, to before it, takes it back):")
            self._chat.view.text(rules)
            self._chat.refresh()

    def help(self, _: str) -> None:
        """On the screen where it fits there, else page by page."""
        chat = self._chat
        columns, rows = chat.terminal.size
        text = help_text(chat.keymap, columns - 1, prompt_rows(self._prompts()))
        if text.count("\n") < rows - _BELOW:
            chat.view.text(text)
            chat.refresh()
            return
        page = Page("commands and keys", lambda: [PageLine(line) for line in text.split("\n")])
        chat.show_screen(lambda: read_pages([page], chat.screen, copy=chat.copy))

    def hotkeys(self, _: str) -> None:
        self._chat.view.text(key_text(self._chat.keymap, self._chat.terminal.size[0] - 1))
        self._chat.refresh()

    def jobs(self, argument: str) -> None:
        asked = job_words(argument)
        if asked is None:
            self._chat.say(JOBS_USAGE)
        else:
            self._show(lambda: self._chat.host.jobs(*asked))

    def servers(self, argument: str) -> None:
        asked = server_words(argument)
        if asked is None:
            self._chat.say(SERVERS_USAGE)
        else:
            self._show(lambda: self._chat.host.servers(*asked))

    def _show(self, look: Callable[[], Sequence[str]]) -> None:
        """What the host says, which may take a while."""

        def job() -> None:
            text = "\n".join(look())
            self._chat.post(lambda: self._chat.view.copyable(text))

        self._chat.look(job)

    def card(self) -> None:
        """`?` on an empty editor."""
        self._chat.view.text(card_text(self._chat.keymap, self._chat.terminal.size[0] - 1))
        self._chat.refresh()

    def quit(self, _: str) -> None:
        self._chat.leave()

    # ---- inside ---------------------------------------------------------------------------------

    def _command(self, line: str) -> None:
        name, argument = split_command(line)
        command = slash_command(name)
        if command is None:
            self._chat.set_draft(line)  # whatever it was, it is not lost
            names = {*self._table, *(each.word for each in self._prompts())}
            self._chat.say(no_command(name, names), "warn")
        elif command.idle and (self._chat.busy or self._chat.aside is not None):
            what = "turn" if self._chat.busy else "side question"
            self._chat.set_draft(line)
            self._chat.hint(f"/{name} waits for the end of the {what}; Esc stops it")
        else:
            self._chat.guarded(lambda: self._table[name](argument))

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
