"""The chat: an editor that is always alive, and a transcript that is printed once.

The prompt_toolkit application draws the bottom lines (screen.py); the agent runs in a worker thread
(worker.py); its events become final text, printed above, and a small live tail (live.py). The
renderer is made in a thread once the prompt stands, since rich is slow to load.
State of a turn: `busy` from the start of a job to the arrival of its end in this thread.
It decides nothing about the agent's turn. Read next: keyboard.py, actions.py.
"""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.input import Input

from agentsh.agent.events import CallPart, TextPart, ThinkingPart, TurnEnd
from agentsh.errors import AgentshError
from agentsh.messages import Image
from agentsh.ui.actions import Actions
from agentsh.ui.approval import Desk, Question, question_body, question_title
from agentsh.ui.background import QUESTION, listening_input
from agentsh.ui.bottom import bottom_parts
from agentsh.ui.chatoptions import ChatOptions
from agentsh.ui.clipboard import osc52
from agentsh.ui.drafts import DraftFile, DraftKeeper
from agentsh.ui.editor import Editor
from agentsh.ui.face import AgentReport, ChatAgent, Host, View
from agentsh.ui.keyboard import Keyboard
from agentsh.ui.keymap import Keymap
from agentsh.ui.keys import chat_keys, teach_shift_enter
from agentsh.ui.notify import notification
from agentsh.ui.painter import Painter
from agentsh.ui.screen import make_app, make_layout, make_output, tail_rows
from agentsh.ui.status import Hint, git_branch
from agentsh.ui.terminal import Background, Terminal
from agentsh.ui.theme import Role, Theme, choose
from agentsh.ui.worker import News, Worker

LONG_TURN_SECONDS = 20.0
LEAVE_SECONDS = 5.0
_WRITING = (TextPart, ThinkingPart, CallPart)


class Repl:
    """One chat at one terminal; may change the agent under it (`/new`, `/resume`)."""

    ended_by: signal.Signals | None = None
    """What the process was told to end with, where it was."""

    def __init__(
        self,
        agent: ChatAgent,
        host: Host,
        terminal: Terminal,
        make_view: Callable[[Theme], View],
        options: ChatOptions,
        *,
        keyboard_input: Input | None = None,
    ) -> None:
        self.agent = agent
        self.host = host
        self.terminal = terminal
        self.options = options
        self.theme = options.theme
        self.report: AgentReport | None = None
        self.busy = False
        self._working = False
        self._completed = True
        self._make_view = make_view
        self._view: View | None = None
        self.branch: str | None = None
        self._view_lock = threading.Lock()
        self.busy_since = 0.0
        self.brief = Hint()
        self._screen_job: Callable[[], None] | None = None
        self._leaving = False
        self._started = False
        self._actions = Actions(self)
        self.worker = Worker(self._drain)
        self.desk = Desk(self.worker.post, self._ask)
        self.editor = Editor(options.history, options.cwd, self._typed)
        self._drafts = DraftKeeper(
            DraftFile(options.drafts, options.cwd), lambda: self.editor.draft
        )
        self.keyboard = Keyboard(self, self._actions, options.cwd)
        self.output = make_output(terminal)
        self.app = self._application(keyboard_input)
        self._painter = Painter(self.app.renderer.style, self.output, self._tail)
        self.app.renderer = self._painter

    # ---- running ------------------------------------------------------------------------------

    def run(self) -> None:
        """Chat until the person leaves. Full-screen views run between two runs of the editor."""
        self.agent.approver = self.desk.approve
        # a line of ours above the prompt; in tmux, erasing from the very first cell of a window
        # would push the erased prompt into the scrollback
        self.terminal.stdout.write(self.options.hello + "\n")
        self.terminal.stdout.flush()
        try:
            while True:
                with suppress(EOFError):  # the terminal is gone
                    self.app.run(pre_run=self._entered, set_exception_handler=False)
                self.worker.attach(None)
                job, self._screen_job = self._screen_job, None
                if job is None:
                    break
                job()
        finally:
            self.worker.attach(None)
            self._leaving = True
            self._stop_turn()
            self._drafts.close()
        self._settle()

    def leave(self) -> None:
        """End the chat; a running turn is stopped and made durable first."""
        self._leaving = True
        if self.busy:
            self._stop_turn()
        if self.app.is_running and not self.app.is_done:
            self.app.exit()

    def _told_to_end(self, sign: signal.Signals) -> None:
        self.ended_by = sign
        self.leave()

    def show_screen(self, job: Callable[[], None]) -> None:
        """Run something that takes the whole screen, then come back to the editor."""
        self._screen_job = job
        self.app.exit()

    def use(self, agent: ChatAgent) -> None:
        """Go on with another session."""
        self.agent.approver = None
        self.agent = agent
        agent.approver = self.desk.approve
        self.refresh_report()

    # ---- what actions and keys use --------------------------------------------------------------

    @property
    def view(self) -> View:
        """Transcript and renderer, made at the first need (or by the thread that was faster)."""
        with self._view_lock:
            if self._view is None:
                self._view = self._make_view(self.theme)
            return self._view

    def say(self, text: str, role: Role = "quiet") -> None:
        """A line of the program's own, above the prompt."""
        self.view.say(text, role)
        self.refresh()

    def complain(self, error: AgentshError) -> None:
        self.view.say(f"error: {error}", "error")
        if error.hint:
            self.view.say(error.hint)
        self.refresh()

    def hint(self, text: str, seconds: float | None = None) -> None:
        """Something in the status line, for a moment."""
        self.brief.show(text, time.monotonic(), seconds)
        self.redraw()

    def redraw(self) -> None:
        self.app.invalidate()

    def copy(self, text: str) -> None:
        """Into the clipboard, by the terminal's own means; works over ssh."""
        self.output.write_raw(osc52(text))
        self.output.flush()

    @property
    def keymap(self) -> Keymap:
        return self.options.keymap

    def set_draft(self, text: str) -> None:
        self.editor.set_draft(text)

    def put_back(self, text: str) -> None:
        self.editor.put_back([text])

    def start_turn(self, text: str) -> None:
        """With what is attached."""
        self._prompt(text, self.editor.take_attachments())

    def _prompt(self, text: str, images: tuple[Image, ...] = ()) -> None:
        def job() -> None:
            for event in self.agent.prompt(text, images):
                self.worker.post(event)

        self.start(job)

    def post(self, news: News) -> None:
        self.worker.post(news)

    def start(self, job: Callable[[], None]) -> None:
        """Run a job in the worker thread; `busy` until its end has arrived."""
        self.busy = self._working = True
        self.busy_since = time.monotonic()

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

    def refresh_report(self) -> None:
        """Ask for the figures of the status line. Only while nothing runs."""
        try:
            self.report = self.agent.report()
        except AgentshError as e:
            self.complain(e)
        self.branch = git_branch(self.options.cwd)
        self.redraw()

    def refresh(self, *, foot: bool = True) -> None:
        """Print what became final, once, and the tail; the foot anew if it may have changed."""
        if self.app.is_running and not self.app._running_in_terminal:
            text = "" if self._view is None else self._view.take()
            self._painter.show(text, self.app._redraw, foot=foot)

    def read(self, kind: str) -> None:
        """Calls or thoughts unfolded, on the whole screen."""
        pages = self.view.pages(kind)
        if not pages:
            self.hint(f"there are no {'tool calls' if kind == 'calls' else kind} yet")
            return
        self.show_screen(lambda: self._actions.read(pages))

    def stop(self) -> None:
        """Stop the turn; what was queued comes back into the editor, before the draft."""
        self.editor.put_back(self.agent.take_back())
        self._stop_turn()
        self.redraw()

    # ---- inside ---------------------------------------------------------------------------------

    def _application(self, keyboard_input: Input | None) -> Application[None]:
        teach_shift_enter()
        return make_app(
            make_layout(bottom_parts(self), self.editor.buffer),
            chat_keys(self.keyboard, self.options.keymap),
            lambda: self.theme,
            keyboard_input or listening_input(self.terminal, self._background),
            self.output,
            vi=self.options.vi,
        )

    def _tail(self, room: int) -> list[str]:
        """The live lines of the transcript; none before there is one."""
        rows = min(room, tail_rows(self.terminal))
        return [] if self._view is None else self._view.tail(rows)

    def _entered(self) -> None:
        """The event loop runs and the prompt is about to be drawn."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._crashed)
        for sign in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(sign, self._told_to_end, sign)
        self.worker.attach(loop)
        loop.call_later(0.5, self._tick, loop)
        if self._started:
            loop.call_soon(self.refresh)
            return
        self._started = True
        if self.options.ask_background:
            self.output.write_raw(QUESTION)
            self.output.flush()
        threading.Thread(target=lambda: self.view, name="agentsh-view", daemon=True).start()
        loop.call_later(0.02, self._begin)

    def _background(self, background: Background) -> None:
        """The terminal has said what it is like."""
        if self.options.ask_background and background != "unknown":
            self.theme = choose("auto", background, self.terminal.colours)
            with self._view_lock:
                if self._view is not None:
                    self._view.use_theme(self.theme)
            self.redraw()

    def _crashed(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """A bug in a callback ends the chat, and is reported by whoever called `run`."""
        error = context.get("exception")
        if isinstance(error, BaseException) and self.app.is_running and not self._leaving:
            self._leaving = True
            self.app.exit(exception=error)

    def _begin(self) -> None:
        """What comes after the first drawing."""
        self.refresh_report()
        if self.options.resumed:
            self._actions.show_session()
        draft = self._drafts.take_left()
        if draft is not None:
            self.editor.put_back([draft])
            self.hint("this was typed and not sent when the chat ended")
        if self.options.offer and not self.editor.draft:
            self.set_draft(self.options.offer)
        if self.options.first_prompt:
            self._actions.submit(self.options.first_prompt)

    def _typed(self) -> None:
        """The draft changed: keys answer no question now, and the draft is kept soon."""
        self.desk.typed()
        if self._started and self.app.loop is not None:
            self._drafts.soon(self.app.loop)

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        """Redraw what changes with time: a running turn's clock, a hint that is over."""
        if not self.app.is_running:
            return
        hinting = self.brief.text(time.monotonic()) is not None
        if self.busy or hinting or self.brief.was_shown:
            self.refresh()
        self.brief.was_shown = hinting
        loop.call_later(0.5 if hinting else 1.0, self._tick, loop)

    def _drain(self, news: list[News]) -> None:
        for item in news:
            if callable(item):
                item()
            else:
                self.view.feed(item)
                if isinstance(item, TurnEnd):
                    self._completed = item.reason == "completed"
        # while a model writes, nothing below its text changes; the clock there has its tick
        self.refresh(foot=not all(isinstance(item, _WRITING) for item in news))

    def _finished(self) -> None:
        """The job is over. What came too late for it is sent now, or edited where it failed."""
        self.busy = False
        self.view.at_rest()
        if time.monotonic() - self.busy_since > LONG_TURN_SECONDS:
            self._ring("the turn is over")
        if self._leaving:
            return
        left = [text for text in self.agent.take_back() if text.strip()]
        if left and self._completed:
            self._prompt("\n".join(left))
            return
        self.editor.put_back(left)
        self.refresh_report()

    def _stop_turn(self) -> None:
        # an abort after the end would be taken by whatever runs next
        if self._working:
            self.agent.abort()
        self.desk.close("stopped", for_good=self._leaving)
        self.editor.give_back(None)

    def _settle(self) -> None:
        """Wait for a stopped turn to become durable, and print what it still said."""
        self.agent.approver = None
        over = self.worker.join(LEAVE_SECONDS)
        for item in self.worker.take():
            if not callable(item):
                self.view.feed(item)
        if self._view is not None:
            self.output.write_raw(self._view.take().replace("\n", "\r\n"))
        if not over:
            self.output.write_raw("a tool did not end in time and was left behind\r\n")
        self.output.flush()

    def _ask(self, question: Question) -> None:
        request = question.request
        self.view.ask(question_title(request), question_body(request), request.diff)
        self._ring(f"{request.tool} waits for your agreement")

    def _ring(self, words: str) -> None:
        options = self.options
        text = notification(
            self.terminal, f"agentsh: {words}", bell=options.bell, desktop=options.notify
        )
        self.output.write_raw(text)
        self.output.flush()
