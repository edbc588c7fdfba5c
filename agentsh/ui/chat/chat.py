"""The state of the chat, shared by its commands, keys and foot: agent, view, running work.

It has no event loop: repl.py runs it, and says what becomes of the application's screen. The
transcript's view is made at the first need, since it brings rich with it.
State of a turn: `busy` from the start of a job to the arrival of its end in this thread.
It decides nothing about the agent's turn. Read next: repl.py, actions.py, keyboard.py.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from prompt_toolkit.application import Application

from agentsh.agent.events import CallPart, TextPart, ThinkingPart, TurnEnd, TurnStart
from agentsh.errors import AgentshError
from agentsh.settings import STATUS_PARTS, StatusPart
from agentsh.ui.asking.approval import Desk, Question, question_body, question_title
from agentsh.ui.asking.notify import notification
from agentsh.ui.chat.worker import Awaited, News, Worker
from agentsh.ui.fullscreen import Screen
from agentsh.ui.input.attachments import Attachment, attached_again
from agentsh.ui.input.clipboard import copied
from agentsh.ui.input.completion import touched_files
from agentsh.ui.input.drafts import DraftFile, DraftKeeper
from agentsh.ui.input.editor import Editor
from agentsh.ui.input.keymap import Keymap, make_keymap
from agentsh.ui.paper.painter import Painter
from agentsh.ui.protocols import ChatAgent, Host
from agentsh.ui.screen import make_output
from agentsh.ui.signals import Signals
from agentsh.ui.state.chatstate import Began, ChatState, Happening, Rested, fold
from agentsh.ui.status import Hint, git_branch
from agentsh.ui.terminal import Terminal
from agentsh.ui.theme import Role, Theme

if TYPE_CHECKING:  # it brings rich
    from agentsh.ui.chat.view import TranscriptView

HELLO = "agentsh: /help names the commands and keys"
LONG_TURN_SECONDS = 20.0
_WRITING = (TextPart, ThinkingPart, CallPart)


class ChatOptions(Struct, frozen=True):
    """What the cli knows of this chat. `history` None: nothing typed is kept; nor drafts."""

    cwd: Path
    home: Path
    theme: Theme
    history: Path | None = None
    first_prompt: str | None = None
    resumed: bool = False
    returned: tuple[str, ...] = ()
    """What of a resumed session is as it was, and not as in a new chat (answers.resumed_words)."""
    offer: str | None = None
    """A draft to begin with, where there is no other."""
    bell: bool = True
    notify: bool = True
    vi: bool = False
    keymap: Keymap = make_keymap()
    ask_background: bool = False
    """The theme may follow the terminal, and nobody knows yet what it is like."""
    drafts: Path | None = None
    hello: str = HELLO
    environ: Mapping[str, str] = {}
    """Where the tools for the clipboard are found."""
    status: tuple[StatusPart, ...] = STATUS_PARTS
    """What the status line holds."""
    models: tuple[str, ...] = ()
    """What `/model` offers before any list was asked for."""


class Chat:
    """One chat at one terminal; may change the agent under it (`/new`, `/resume`)."""

    app: Application[None]
    painter: Painter
    signals: Signals
    """They are made by repl.py, of what is here."""

    def __init__(
        self,
        agent: ChatAgent,
        host: Host,
        terminal: Terminal,
        make_view: Callable[[Theme], TranscriptView],
        options: ChatOptions,
    ) -> None:
        self.agent = agent
        self.host = host
        self.terminal = terminal
        self.options = options
        self.theme = options.theme
        self.state = ChatState()
        self.branch: str | None = None
        self.brief = Hint()
        self.busy = self._working = False
        self._completed = True
        self.started = self.leaving = False
        self.aside: Awaited | None = None
        """The side question that is being answered."""
        self._looked: Awaited | None = None
        self.screen_job: Callable[[], None] | None = None
        """What is to have the whole screen before the editor comes back."""
        self._make_view = make_view
        self._view: TranscriptView | None = None
        self._view_lock = threading.Lock()
        self.worker = Worker(self._drain)
        self.desk = Desk(self.worker.post, self._ask)
        self.editor = Editor(options.history, options.cwd, self._typed, self._touched)
        self.editor.completer.models = options.models
        self.editor.completer.find_prompts = lambda: self.agent.expander.commands()
        self.drafts = DraftKeeper(DraftFile(options.drafts, options.cwd), lambda: self.editor.draft)
        self.output = make_output(terminal)

    # ---- what is shown --------------------------------------------------------------------------

    @property
    def view(self) -> TranscriptView:
        """Transcript and renderer, made at the first need (or by the thread that was faster)."""
        with self._view_lock:
            if self._view is None:
                self._view = self._make_view(self.theme)
            return self._view

    @property
    def made_view(self) -> TranscriptView | None:
        """The view, if there was a need already."""
        return self._view

    def use_theme(self, theme: Theme) -> None:
        """From what comes next on."""
        self.theme = theme
        with self._view_lock:
            if self._view is not None:
                self._view.use_theme(theme)
        self.redraw()

    def say(self, text: str, role: Role = "quiet") -> None:
        """A line of the program's own, above the prompt."""
        self.view.say(text, role)
        self.refresh()

    def complain(self, error: AgentshError) -> None:
        self.view.say(f"error: {error}", "error")
        if error.hint and "`" in error.hint:  # a command, to be copied
            self.view.copyable(error.hint)
        elif error.hint:
            self.view.say(error.hint)
        self.refresh()

    def guarded(self, action: Callable[[], object]) -> None:
        """Do it; an error of ours is shown."""
        try:
            action()
        except AgentshError as e:
            self.complain(e)

    def hint(self, text: str, seconds: float | None = None) -> None:
        """Something in the status line, for a moment."""
        self.brief.show(text, time.monotonic(), seconds)
        self.redraw()

    def redraw(self) -> None:
        self.app.invalidate()

    def refresh(self, *, foot: bool = True) -> None:
        """Print what became final and the tail. The foot is drawn anew if it may have changed."""
        if self.app.is_running and not self.app._running_in_terminal:
            text = "" if self._view is None else self._view.take()
            self.painter.show(text, self.app._redraw, foot=foot)

    def hear(self, what: Happening) -> bool:
        """Something happened; True where what is waited for changed with it."""
        before, self.state = self.state, fold(self.state, what, time.monotonic())
        return self.state.waiting is not before.waiting

    def refresh_report(self) -> None:
        """Ask for the figures of the status line. Only while nothing runs."""
        try:
            self.hear(self.agent.report())
        except AgentshError as e:
            self.complain(e)
        self.branch = git_branch(self.options.cwd)
        self.redraw()

    def copy(self, text: str) -> str:
        """Into the clipboard, over ssh too; what to say of it."""
        sent = copied(text, tmux=self.terminal.tmux)
        self.write(sent.sequence)
        return sent.words

    def write(self, sequence: str) -> None:
        """Something for the terminal, which nobody sees."""
        self.output.write_raw(sequence)
        self.output.flush()

    @property
    def screen(self) -> Screen:
        """For a view that takes the whole of it."""
        return Screen(self.terminal, self.theme)

    def show_screen(self, job: Callable[[], None]) -> None:
        """Run something that takes the whole screen, then come back to the editor."""
        self.screen_job = job
        self.app.exit()

    # ---- what is typed --------------------------------------------------------------------------

    @property
    def keymap(self) -> Keymap:
        return self.options.keymap

    def set_draft(self, text: str, *, said: bool = False) -> None:
        self.editor.set_draft(text, said=said)

    def put_back(self, text: str) -> None:
        self.editor.put_back([text])

    def _touched(self) -> Sequence[str]:
        """The files that this session's calls named."""
        return touched_files(self.agent.session.live().entries, self.options.cwd)

    def _typed(self) -> None:
        """The draft changed: keys answer no question now, and the draft is kept soon."""
        self.desk.typed()
        if self.started and self.app.loop is not None:
            self.drafts.soon(self.app.loop)

    # ---- what runs ------------------------------------------------------------------------------

    def use(self, agent: ChatAgent, *, is_same: bool = False) -> None:
        """Go on with another session, or with the same one under another agent.

        What was unfolded of another session is its own.
        """
        if not is_same:
            self.view.forget()
        self.state = ChatState(since=self.state.since, can_stop=self.state.can_stop)
        self.agent.approver = None
        self.agent = agent
        agent.approver = self.desk.approve
        self.refresh_report()

    def start_turn(self, text: str) -> None:
        """With what is attached."""
        self._prompt(text, self.editor.take_attachments())

    def _prompt(self, text: str, attached: tuple[Attachment, ...] = ()) -> None:
        """One that could not be begun, or was refused, is in the editor again."""
        images = tuple(each.image for each in attached)

        def back() -> None:
            self.put_back(text)
            self.editor.attachments = (*attached, *self.editor.attachments)

        def job() -> None:
            has_begun = False
            try:
                for event in self.agent.prompt(text, images):
                    has_begun = has_begun or isinstance(event, TurnStart)
                    self.worker.post(event)
            finally:
                if not has_begun:
                    self.worker.post(back)

        self.start(job)

    def post(self, news: News) -> None:
        """From a job's thread: show this event, or call this, in the chat's own."""
        self.worker.post(news)

    def start(self, job: Callable[[], None]) -> None:
        """Run a job of the agent's in the worker thread; `busy` until its end has arrived."""
        self._start(job, is_agents=True)

    def look(self, job: Callable[[], None], looked: Awaited | None = None) -> None:
        """As `start`, for what is not the agent's; only `looked` stops it.

        While a job runs it is done beside that one, which goes on.
        """
        if not self.busy:
            self._start(job, is_agents=False, looked=looked)
            return

        def work() -> None:
            try:
                job()
            except AgentshError as e:
                self.worker.post(partial(self.complain, e))

        self.worker.beside(work, "agentsh-look")

    def _start(
        self, job: Callable[[], None], *, is_agents: bool, looked: Awaited | None = None
    ) -> None:
        self.busy = self._working = True
        self._looked = looked
        can_stop = is_agents or looked is not None
        self.hear(Began(can_stop, "" if looked is None else looked.words))

        def work() -> None:
            try:
                job()
            except AgentshError as e:
                error = e
                self.worker.post(lambda: self.complain(error))
            finally:
                self._working = False
                self.worker.post(self._finished)

        self.worker.start(work, "agentsh-turn")

    def stop(self) -> None:
        """Stop the turn; what was queued comes back into the editor, before the draft."""
        if back := self.agent.take_back():
            self.editor.take_in(back)
            self.hint("what was queued is in the editor again", 3.0)
        if not self.state.can_stop:
            self.hint("this cannot be stopped; it ends by itself")
            return
        self.stop_turn()
        self.redraw()

    def stop_turn(self) -> None:
        """Abort what runs, and answer what it asks."""
        # an abort that nothing of the agent's looks at would be taken by whatever runs next
        if self._looked is not None:
            self._looked.abort.set()
        elif self._working and self.state.can_stop:
            self.agent.abort()
        self.desk.close("stopped", for_good=self.leaving)
        self.editor.give_back(None)

    def stop_aside(self) -> None:
        if self.aside is not None:
            self.aside.abort.set()

    def leave(self) -> None:
        """End the chat; a running turn is stopped and made durable first."""
        self.leaving = True
        self.stop_aside()
        if self.busy:
            self.stop_turn()
        if self.app.is_running and not self.app.is_done:
            self.app.exit()

    def suspend(self) -> None:
        """Stop the whole process group, as the shell's key does."""
        self.signals.stop(group=True)

    def _drain(self, news: list[News]) -> None:
        is_told = False
        for item in news:
            if callable(item):
                item()
            else:
                is_told = self.hear(item) or is_told
                self.view.feed(item)
                if isinstance(item, TurnEnd):
                    self._completed = item.reason == "completed"
        # while a model writes, nothing below its text changes; the clock there has its tick
        self.refresh(foot=is_told or not all(isinstance(item, _WRITING) for item in news))

    def _finished(self) -> None:
        """The job is over. What came too late for it is sent now, or edited where it failed."""
        began = self.state.since
        self.busy = False
        self.hear(Rested())
        self.view.at_rest()
        if began is not None and time.monotonic() - began > LONG_TURN_SECONDS:
            self._ring("the turn is over")
        if self.leaving:
            return
        left = [each for each in self.agent.take_back() if each.text.strip() or each.images]
        is_call = len(left) > 1 and any(each.text.startswith("/") for each in left)
        if left and self._completed and not is_call:  # a call is one only where it begins
            text = "\n".join(each.text for each in left if each.text.strip())
            self._prompt(text, attached_again(image for each in left for image in each.images))
            return
        self.editor.take_in(left)
        self.refresh_report()

    def _ask(self, question: Question) -> None:
        request = question.request
        file = "" if request.diff is None else request.shown
        self.view.ask(question_title(request), question_body(request), request.diff, file)
        self._ring(f"{request.tool} waits for your agreement")

    def _ring(self, words: str) -> None:
        bell, desktop = self.options.bell, self.options.notify
        self.write(notification(self.terminal, f"agentsh: {words}", bell=bell, desktop=desktop))
