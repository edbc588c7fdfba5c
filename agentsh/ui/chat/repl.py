"""Running a chat: an editor that is always alive, and a transcript that is printed once.

The prompt_toolkit application draws the bottom lines (screen.py); the agent runs in a worker thread
(worker.py); its events become final text, printed above, and a small live tail (transcript.py). The
view is made in a thread once the prompt stands, since rich is slow to load. What commands and keys
do to the chat is chat.py's. Read next: chat.py, keyboard.py, actions.py.
"""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from prompt_toolkit.application import Application
from prompt_toolkit.input import Input

from agentsh.ui.chat.actions import Actions
from agentsh.ui.chat.bottom import bottom_parts
from agentsh.ui.chat.chat import Chat, ChatOptions
from agentsh.ui.chat.keyboard import Keyboard
from agentsh.ui.chat.keys import chat_keys
from agentsh.ui.input.background_colour import QUESTION
from agentsh.ui.input.commands import greeting
from agentsh.ui.input.editor import is_plainly_said
from agentsh.ui.input.terminal_input import KeyReader, TerminalInput
from agentsh.ui.paper.painter import Painter
from agentsh.ui.protocols import ChatAgent, Host
from agentsh.ui.screen import make_app, make_layout
from agentsh.ui.signals import Signals
from agentsh.ui.terminal import Background, Terminal
from agentsh.ui.theme import Theme, choose_theme

if TYPE_CHECKING:  # it brings rich
    from agentsh.ui.chat.view import TranscriptView

LEAVE_SECONDS = 5.0


class Repl:
    """Runs one chat: its application, loop, signals and clock."""

    ended_by: signal.Signals | None = None
    """What the process was told to end with, where it was."""

    def __init__(
        self,
        agent: ChatAgent,
        host: Host,
        terminal: Terminal,
        make_view: Callable[[Theme], TranscriptView],
        options: ChatOptions,
        *,
        keyboard_input: Input | None = None,
    ) -> None:
        self.chat = Chat(agent, host, terminal, make_view, options)
        self._keys = KeyReader(self._background, bursts=True)
        self._actions = Actions(self.chat)
        self.app = self._application(keyboard_input)
        painter = Painter(self.app.renderer.style, self.chat.output, self._tail)
        self.app.renderer = painter
        self.chat.app, self.chat.painter = self.app, painter
        self.chat.signals = self._signals = Signals(self.app, self._told_to_end)

    def run(self) -> None:
        """Chat until the person leaves. Full-screen views run between two runs of the editor."""
        chat = self.chat
        chat.agent.approver = chat.desk.approve
        # a line of ours above the prompt; in tmux, erasing from the very first cell of a window
        # would push the erased prompt into the scrollback
        chat.terminal.stdout.write(greeting(chat.options.hello, chat.terminal.size[0] - 1) + "\n")
        chat.terminal.stdout.flush()
        try:
            while True:
                with suppress(EOFError):  # the terminal is gone
                    self.app.run(pre_run=self._entered, set_exception_handler=False)
                chat.worker.attach(None)
                if (sign := self._signals.detach()) is not None:
                    self._told_to_end(sign)
                job, chat.screen_job = chat.screen_job, None
                if job is None or chat.leaving:
                    break
                try:
                    job()
                except SystemExit as e:  # a view was told to end
                    self.ended_by = signal.Signals(int(e.code or 0) - 128)
                    break
        finally:
            self._signals.detach()
            chat.worker.attach(None)
            chat.leaving = True
            chat.stop_aside()
            chat.stop_turn()
            chat.drafts.close()
        self._settle()

    def _told_to_end(self, sign: signal.Signals) -> None:
        self.ended_by = sign
        self.chat.leave()

    def _application(self, keyboard_input: Input | None) -> Application[None]:
        chat = self.chat
        return make_app(
            make_layout(bottom_parts(chat), chat.editor.buffer),
            chat_keys(Keyboard(chat, self._actions), chat.options.keymap),
            lambda: chat.theme,
            keyboard_input or TerminalInput(chat.terminal.stdin, self._keys),
            chat.output,
            vi=chat.options.vi,
        )

    def _tail(self, room: int) -> list[str]:
        """The live lines of the transcript; none before there is one."""
        view = self.chat.made_view
        return [] if view is None else view.tail(room)

    def _entered(self) -> None:
        """The event loop runs and the prompt is about to be drawn."""
        chat = self.chat
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._crashed)
        self._signals.attach(loop)
        chat.worker.attach(loop)
        loop.call_later(0.5, self._tick, loop)
        if chat.started:
            loop.call_soon(chat.refresh)
            return
        chat.started = True
        if chat.options.ask_background:
            chat.write(QUESTION)
            self._keys.asked()
        threading.Thread(target=lambda: chat.view, name="agentsh-view", daemon=True).start()
        loop.call_later(0.02, self._begin)

    def _background(self, background: Background) -> None:
        """The terminal has said what it is like."""
        if self.chat.options.ask_background and background != "unknown":
            self.chat.use_theme(choose_theme("auto", background, self.chat.terminal.colours))

    def _crashed(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """A bug in a callback ends the chat, and is reported by whoever called `run`."""
        error = context.get("exception")
        if isinstance(error, BaseException) and self.app.is_running and not self.chat.leaving:
            self.chat.leaving = True
            self.app.exit(exception=error)

    def _begin(self) -> None:
        """What comes after the first drawing."""
        chat, options = self.chat, self.chat.options
        chat.refresh_report()
        if options.resumed:
            self._actions.show_session()
        draft = chat.drafts.take_left()
        if draft is not None:
            chat.editor.put_back([draft], said=is_plainly_said(draft))
            chat.hint("this was typed and not sent when the chat ended")
        if options.offer and not chat.editor.draft:
            chat.set_draft(options.offer)
        if first := options.first_prompt:  # given to the program: never for the shell
            self._actions.submit(first, said=first.startswith("!"))

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        """Redraw what changes with time: a running turn's clock, a hint that is over."""
        if not self.app.is_running:
            return
        chat = self.chat
        hinting = chat.brief.text(time.monotonic()) is not None
        if chat.busy or hinting or chat.brief.was_shown:
            chat.refresh()
        chat.brief.was_shown = hinting
        loop.call_later(0.5 if hinting else 1.0, self._tick, loop)

    def _settle(self) -> None:
        """Wait for a stopped turn to become durable, and print what it still said."""
        chat = self.chat
        chat.agent.approver = None
        over = chat.worker.join(LEAVE_SECONDS)
        for item in chat.worker.take():
            if not callable(item):
                chat.view.feed(item)
        if chat.made_view is not None:
            chat.output.write_raw(chat.made_view.take().replace("\n", "\r\n"))
        if not over:
            chat.output.write_raw("a tool did not end in time and was left behind\r\n")
        chat.output.flush()
