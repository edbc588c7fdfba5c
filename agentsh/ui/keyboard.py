"""What a key means in the state that the chat is in: idle, working, asked, a line borrowed.

Satisfies keys.Pressed. It changes the editor and asks the chat; it binds nothing and draws nothing.
Read next: keys.py, repl.py.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from agentsh.agent.events import AgentEvent
from agentsh.errors import AgentshError, UsageError
from agentsh.messages import THINKING_LEVELS
from agentsh.ui.actions import Actions
from agentsh.ui.approval import Desk, can_change
from agentsh.ui.attachments import Attachment, from_clipboard, from_path, image_path
from agentsh.ui.editor import Editor
from agentsh.ui.face import ChatAgent
from agentsh.ui.theme import Role

TWICE_SECONDS = 1.5
ESCAPE_SECONDS = 1.0


class Chatting(Protocol):
    """The chat, as keys use it (repl.py)."""

    agent: ChatAgent
    busy: bool
    editor: Editor
    desk: Desk

    def say(self, text: str, role: Role = "quiet") -> None: ...

    def complain(self, error: AgentshError) -> None: ...

    def hint(self, text: str, seconds: float | None = None) -> None: ...

    def post(self, news: AgentEvent | Callable[[], None]) -> None: ...

    def refresh_report(self) -> None: ...

    def read(self, kind: str) -> None: ...

    def redraw(self) -> None: ...

    def refresh(self) -> None: ...

    def stop(self) -> None: ...

    def leave(self) -> None: ...


class Keyboard:
    """Keys → wishes."""

    def __init__(self, chat: Chatting, actions: Actions, cwd: Path) -> None:
        self._chat = chat
        self._actions = actions
        self._cwd = cwd
        self._last_escape = self._last_interrupt = 0.0

    # ---- the draft ------------------------------------------------------------------------------

    def enter(self) -> None:
        editor = self._chat.editor
        if editor.attachments and self._chat.busy and not editor.is_borrowed:
            self._chat.hint("an image goes with a prompt of its own: press Enter after the turn")
            return
        text = editor.enter()
        if text is not None:
            self._actions.submit(text)

    def alt_enter(self) -> None:
        text = self._chat.editor.take() if self._chat.busy else None
        if text is not None:
            self._actions.queue(text)
        else:
            self.newline()

    def newline(self) -> None:
        self._chat.editor.newline()

    def command(self, line: str) -> None:
        self._actions.submit(line)

    def unqueue(self) -> None:
        """What waits comes back, to be changed or dropped."""
        texts = self._chat.agent.take_back()
        if texts:
            self._chat.editor.put_back(texts)
        else:
            self._chat.hint("nothing is queued")
        self._chat.redraw()

    # ---- stopping and leaving -------------------------------------------------------------------

    def escape(self) -> None:
        now = time.monotonic()
        editor = self._chat.editor
        if editor.is_borrowed:
            editor.give_back(None)
        elif self._chat.desk.is_asked():  # no letter of a draft: also while there is one
            self._chat.say(self._chat.desk.refuse())
        elif self._chat.busy:
            self._chat.stop()
        elif not editor.draft:
            if now - self._last_escape < ESCAPE_SECONDS:
                self._last_escape = 0.0
                self._actions.tree()
                return
            self._last_escape = now

    def interrupt(self) -> None:
        now = time.monotonic()
        editor = self._chat.editor
        if editor.is_borrowed:
            editor.give_back(None)
        elif self._chat.busy:
            self._chat.stop()
        elif editor.draft:
            editor.clear()
        elif now - self._last_interrupt < TWICE_SECONDS:
            self._chat.leave()
        else:
            self._last_interrupt = now
            self._chat.hint("press Ctrl-C again to quit", TWICE_SECONDS)

    def leave(self) -> None:
        if self._chat.editor.is_borrowed:
            self._chat.editor.give_back(None)
        else:
            self._chat.leave()

    # ---- questions ------------------------------------------------------------------------------

    def is_asked(self) -> bool:
        """A question is open, and a key can only be meant for it: never while there is a draft."""
        editor = self._chat.editor
        return self._chat.desk.is_asked() and not editor.is_borrowed and not editor.draft

    def answer(self, key: str) -> None:
        desk, editor = self._chat.desk, self._chat.editor
        question = desk.question
        if question is None:
            return
        if key == "n":
            editor.borrow("", "why not? (Enter: no reason) ", self._refused)
        elif key == "e" and can_change(question.request):
            editor.borrow(question.request.shown, "run instead› ", self._changed)
        elif (words := desk.agree(key)) is not None:
            self._chat.say(words)
        else:
            self._chat.hint(f"{key} is no answer to this")
        self._chat.redraw()

    def _refused(self, reason: str | None) -> None:
        words = self._chat.desk.refuse((reason or "").strip() or None)
        if words:
            self._chat.say(words)

    def _changed(self, command: str | None) -> None:
        words = None if command is None else self._chat.desk.change(command)
        if words is not None:
            self._chat.say(words)
        self._chat.refresh()

    # ---- images ---------------------------------------------------------------------------------

    def paste_image(self) -> None:
        """From the clipboard, which may take a while to ask."""
        chat = self._chat

        def look() -> None:
            try:
                found = from_clipboard()
            except UsageError as e:
                error = e
                chat.post(lambda: chat.hint(f"{error}" + (f"; {error.hint}" if error.hint else "")))
                return
            chat.post(lambda: self._attach(found))

        threading.Thread(target=look, name="agentsh-clipboard", daemon=True).start()

    def pasted(self, text: str) -> None:
        """A paste is text, but the path of an image attaches it."""
        path = None if self._chat.editor.is_borrowed else image_path(text, self._cwd)
        if path is not None:
            try:
                self._attach(from_path(path))
                return
            except UsageError as e:
                self._chat.hint(str(e))
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        self._chat.editor.buffer.insert_text(text)

    def drops(self) -> bool:
        editor = self._chat.editor
        return bool(editor.attachments) and not editor.buffer.text and not editor.is_borrowed

    def drop(self) -> None:
        self._chat.editor.drop_attachment()
        self._chat.redraw()

    def _attach(self, attachment: Attachment) -> None:
        self._chat.editor.attach(attachment)
        self._chat.redraw()

    # ---- looking --------------------------------------------------------------------------------

    def unfold(self, kind: str) -> None:
        self._chat.read(kind)

    def next_level(self) -> None:
        if self._chat.busy:
            self._chat.hint("the level of thinking can be changed after the turn")
            return
        levels: list[str] = list(THINKING_LEVELS)
        at = levels.index(self._chat.agent.report().thinking)
        self._chat.agent.set_thinking(levels[(at + 1) % len(levels)])
        self._chat.refresh_report()
        self._chat.hint(f"thinking: {levels[(at + 1) % len(levels)]}, from the next prompt on")
