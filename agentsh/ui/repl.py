"""The chat: an editor that is always alive, and a transcript that is printed once.

The prompt_toolkit application draws the bottom lines (screen.py); the agent runs in a worker thread
(worker.py); its events become final text, printed above, and a small live tail (live.py). The
renderer is made in a thread once the prompt stands, since rich is slow to load.
State of a turn: `busy` from the start of a job to the arrival of its end in this thread.
It decides nothing about the agent's turn. Read next: keys.py, actions.py.
"""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct
from prompt_toolkit.application import Application
from prompt_toolkit.input import Input, create_input

from agentsh.agent.events import TurnEnd
from agentsh.errors import AgentshError
from agentsh.ui.actions import Actions
from agentsh.ui.approval import Desk, Question, question_body, question_lines, question_title
from agentsh.ui.clipboard import osc52
from agentsh.ui.editor import Editor
from agentsh.ui.face import AgentReport, ChatAgent, Host, View
from agentsh.ui.keys import chat_keys, teach_shift_enter
from agentsh.ui.screen import Parts, make_app, make_layout, make_output, tail_rows
from agentsh.ui.status import Activity, Hint, git_branch, queue_lines, status_line
from agentsh.ui.terminal import Terminal
from agentsh.ui.theme import Role, Theme
from agentsh.ui.worker import News, Worker

TWICE_SECONDS = 1.5
ESCAPE_SECONDS = 1.0
LONG_TURN_SECONDS = 20.0
LEAVE_SECONDS = 5.0


class ChatOptions(Struct, frozen=True):
    """What the cli knows of this chat. `history` None: nothing typed is kept."""

    cwd: Path
    home: Path
    theme: Theme
    history: Path | None = None
    first_prompt: str | None = None
    resumed: bool = False
    bell: bool = True
    vi: bool = False


class Repl:
    """One chat at one terminal; may change the agent under it (`/new`, `/resume`)."""

    def __init__(
        self,
        agent: ChatAgent,
        host: Host,
        terminal: Terminal,
        make_view: Callable[[], View],
        options: ChatOptions,
        *,
        keyboard_input: Input | None = None,
    ) -> None:
        self.agent = agent
        self.host = host
        self.terminal = terminal
        self.options = options
        self.report: AgentReport | None = None
        self.busy = False
        self._working = False
        self._completed = True
        self._make_view = make_view
        self._view: View | None = None
        self._view_lock = threading.Lock()
        self._busy_since = self._last_escape = self._last_interrupt = 0.0
        self._hint = Hint(TWICE_SECONDS)
        self._branch: str | None = None
        self._screen_job: Callable[[], None] | None = None
        self._leaving = False
        self._started = False
        self._actions = Actions(self)
        self.worker = Worker(self._drain)
        self.desk = Desk(self.worker.post, self._ask)
        self.editor = Editor(options.history, options.cwd, self.desk.typed)
        self.output = make_output(terminal)
        self.app = self._application(keyboard_input)

    # ---- running ------------------------------------------------------------------------------

    def run(self) -> None:
        """Chat until the person leaves. Full-screen views run between two runs of the editor."""
        self.agent.approver = self.desk.approve
        # a line of ours above the prompt; in tmux, erasing from the very first cell of a window
        # would push the erased prompt into the scrollback
        self.terminal.stdout.write("agentsh: /help names the commands and keys\n")
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
        self._settle()

    def leave(self) -> None:
        """End the chat; a running turn is stopped and made durable first."""
        self._leaving = True
        if self.busy:
            self._stop_turn()
        if self.app.is_running and not self.app.is_done:
            self.app.exit()

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
                self._view = self._make_view()
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

    def hint(self, text: str) -> None:
        """Something in the status line, for a moment."""
        self._hint.show(text, time.monotonic())
        self.app.invalidate()

    def copy(self, text: str) -> None:
        """Into the clipboard, by the terminal's own means; works over ssh."""
        self.output.write_raw(osc52(text))
        self.output.flush()

    @property
    def theme(self) -> Theme:
        return self.options.theme

    def set_draft(self, text: str) -> None:
        self.editor.set_draft(text)

    def start_turn(self, text: str) -> None:
        def job() -> None:
            for event in self.agent.prompt(text):
                self.worker.post(event)

        self.start(job)

    def post(self, news: News) -> None:
        self.worker.post(news)

    def start(self, job: Callable[[], None]) -> None:
        """Run a job in the worker thread; `busy` until its end has arrived."""
        self.busy = self._working = True
        self._busy_since = time.monotonic()

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
        self._branch = git_branch(self.options.cwd)
        self.app.invalidate()

    def refresh(self) -> None:
        """Print what became final, once, and redraw the bottom."""
        if self._view is None or not self.app.is_running or self.app._running_in_terminal:
            return
        text = self._view.take()
        with self.output.held():
            if text:
                self.app.renderer.erase()
                self.output.write_raw(text.replace("\n", "\r\n"))
            self.app._redraw()

    # ---- keys (keys.Keyboard) -------------------------------------------------------------------

    def enter(self) -> None:
        text = self.editor.enter()
        if text is not None:
            self._actions.submit(text)

    def alt_enter(self) -> None:
        text = self.editor.take() if self.busy else None
        if text is not None:
            self._actions.queue(text)
        else:
            self.newline()

    def newline(self) -> None:
        self.editor.newline()

    def escape(self) -> None:
        now = time.monotonic()
        if self.is_asked():
            self.answer("n")
        elif self.busy:
            self.stop()
        elif not self.editor.draft:
            if now - self._last_escape < ESCAPE_SECONDS:
                self._last_escape = 0.0
                self._actions.tree()
                return
            self._last_escape = now

    def interrupt(self) -> None:
        now = time.monotonic()
        if self.busy:
            self.stop()
        elif self.editor.draft:
            self.editor.clear()
        elif now - self._last_interrupt < TWICE_SECONDS:
            self.leave()
        else:
            self._last_interrupt = now
            self.hint("press Ctrl-C again to quit")

    def is_asked(self) -> bool:
        return self.desk.is_asked()

    def answer(self, key: str) -> None:
        self.say(self.desk.answer(key))

    def stop(self) -> None:
        """Stop the turn; what was queued comes back into the editor, before the draft."""
        self.editor.put_back(self.agent.take_back())
        self._stop_turn()
        self.app.invalidate()

    # ---- inside ---------------------------------------------------------------------------------

    def _application(self, keyboard_input: Input | None) -> Application[None]:
        teach_shift_enter()
        parts = Parts(
            tail=lambda: [] if self._view is None else self._view.tail(tail_rows(self.terminal)),
            question=lambda: question_lines(self.desk.question),
            queue=lambda: queue_lines(self.agent.queued(), self.terminal.size[0] - 1),
            status=self._status,
            rows=lambda: self.terminal.size[1],
            mark="› " if self.terminal.unicode else "> ",
        )
        return make_app(
            make_layout(parts, self.editor.buffer),
            chat_keys(self),
            self.options.theme,
            keyboard_input or create_input(self.terminal.stdin),
            self.output,
            vi=self.options.vi,
        )

    def _entered(self) -> None:
        """The event loop runs and the prompt is about to be drawn."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._crashed)
        for sign in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(sign, self.leave)
        self.worker.attach(loop)
        loop.call_later(0.5, self._tick, loop)
        if self._started:
            loop.call_soon(self.refresh)
            return
        self._started = True
        threading.Thread(target=lambda: self.view, name="agentsh-view", daemon=True).start()
        loop.call_later(0.02, self._begin)

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
        if self.options.first_prompt:
            self._actions.submit(self.options.first_prompt)

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        """Redraw what changes with time: a running turn's clock, a hint that is over."""
        if not self.app.is_running:
            return
        hinting = self._hint.text(time.monotonic()) is not None
        if self.busy or hinting or self._hint.was_shown:
            self.app.invalidate()
        self._hint.was_shown = hinting
        loop.call_later(0.5 if hinting else 1.0, self._tick, loop)

    def _drain(self, news: list[News]) -> None:
        for item in news:
            if callable(item):
                item()
            else:
                self.view.feed(item)
                if isinstance(item, TurnEnd):
                    self._completed = item.reason == "completed"
        self.refresh()

    def _finished(self) -> None:
        """The job is over. What came too late for it is sent now, or edited where it failed."""
        self.busy = False
        if time.monotonic() - self._busy_since > LONG_TURN_SECONDS:
            self._ring()
        if self._leaving:
            return
        left = [text for text in self.agent.take_back() if text.strip()]
        if left and self._completed:
            self.start_turn("\n".join(left))
            return
        self.editor.put_back(left)
        self.refresh_report()

    def _stop_turn(self) -> None:
        # an abort after the end would be taken by whatever runs next
        if self._working:
            self.agent.abort()
        self.desk.close("stopped", for_good=self._leaving)

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
        self._ring()

    def _ring(self) -> None:
        if self.options.bell:
            self.output.bell()

    def _status(self) -> str:
        now = time.monotonic()
        activity = Activity(
            seconds=now - self._busy_since if self.busy else None,
            queued=len(self.agent.queued()),
            hint=self._hint.text(now),
        )
        width = self.terminal.size[0] - 1
        return status_line(self.report, self._branch, self.options.home, activity, width)
