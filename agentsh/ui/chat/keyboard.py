"""What a key means in the state that the chat is in: idle, working, asked, a line borrowed.

It changes the editor and asks the chat; it binds nothing and draws nothing.
Read next: keys.py, repl.py.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

from prompt_toolkit.application import get_app, run_in_terminal
from prompt_toolkit.document import Document

from agentsh.errors import AgentshError, UsageError
from agentsh.messages import THINKING_LEVELS
from agentsh.sanitize import safe_line
from agentsh.ui.asking.approval import can_change
from agentsh.ui.cells import width_of
from agentsh.ui.chat.actions import Actions
from agentsh.ui.chat.chat import Chat
from agentsh.ui.input.attachments import Attachment, dropped_pictures, from_clipboard, from_path
from agentsh.ui.input.clusters import RowWidths
from agentsh.ui.input.external_editor import edited
from agentsh.ui.screen import rows_of_editor
from agentsh.ui.wordwrap import INDENT

TWICE_SECONDS = 1.5
ESCAPE_SECONDS = 1.0


class Keyboard:
    """Keys → wishes."""

    def __init__(self, chat: Chat, actions: Actions) -> None:
        self._chat = chat
        self._actions = actions
        self._last_escape = self._last_interrupt = 0.0

    # ---- the draft ------------------------------------------------------------------------------

    def enter(self) -> None:
        editor = self._chat.editor
        is_said = editor.is_said
        text = editor.enter()
        if text is not None:
            self._actions.submit(text, said=is_said)

    def offers(self) -> bool:
        return self._chat.editor.offers

    def choose(self) -> None:
        self._chat.editor.choose()

    def tab(self) -> None:
        self._chat.editor.tab()

    def expand(self) -> None:
        if not self._chat.editor.expand():
            self._chat.hint("nothing long was pasted")

    def alt_enter(self) -> None:
        is_said = self._chat.editor.is_said
        text = self._chat.editor.take() if self._chat.busy else None
        if text is not None:
            self._actions.queue(text, said=is_said)
        else:
            self.newline()

    def newline(self) -> None:
        self._chat.editor.newline()

    def up(self, count: int) -> None:
        self._chat.editor.up(self._widths(), count)

    def down(self, count: int) -> None:
        self._chat.editor.down(self._widths(), count)

    def page(self, direction: int) -> None:
        rows = rows_of_editor(self._chat.terminal.size[1])
        self._chat.editor.page(self._widths(), direction * (rows - 1))

    def _widths(self) -> RowWidths:
        columns, mark = self._chat.terminal.size[0], self._chat.editor.mark
        first = INDENT if mark is None else width_of(mark)
        return RowWidths(columns - first, columns - INDENT)

    def command(self, line: str) -> None:
        self._actions.submit(line)

    def unqueue(self) -> None:
        """What waits comes back, to be changed or dropped."""
        queued = self._chat.agent.take_back()
        if queued:
            self._chat.editor.take_in(queued)
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
        elif self._chat.aside is not None:
            self._stop_aside()
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
        elif editor.draft:  # also while the agent works: the next one stops it
            editor.clear()
            if self._chat.busy:
                self._chat.hint("the draft is cleared (Up brings it back); Ctrl-C again stops")
        elif self._chat.busy:
            self._chat.stop()
        elif self._chat.aside is not None:
            self._stop_aside()
        elif now - self._last_interrupt < TWICE_SECONDS:
            self._chat.leave()
        else:
            self._last_interrupt = now
            self._chat.hint("press Ctrl-C again to quit", TWICE_SECONDS)

    def _stop_aside(self) -> None:
        self._chat.stop_aside()
        self._chat.hint("the side question is stopped")

    def leave(self) -> None:
        if self._chat.editor.is_borrowed:
            self._chat.editor.give_back(None)
        else:
            self._chat.leave()

    def suspend(self) -> None:
        self._chat.suspend()

    def edit(self) -> None:
        """The draft in the person's own editor, which has the terminal meanwhile."""
        chat = self._chat
        chat.editor.expand()
        buffer, options = chat.editor.buffer, chat.options

        async def edit() -> None:
            text = buffer.text
            try:
                text = await run_in_terminal(
                    lambda: edited(text, options.environ, options.cwd), in_executor=True
                )
            except AgentshError as e:
                chat.complain(e)
                return
            buffer.document = Document(text, len(text))

        get_app().create_background_task(edit())

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
        sentence = self._chat.desk.refuse((reason or "").strip() or None)
        if sentence:
            self._chat.say(sentence)

    def _changed(self, command: str | None) -> None:
        sentence = None if command is None else self._chat.desk.change(command)
        if sentence is not None:
            self._chat.say(sentence)
        self._chat.refresh()

    # ---- images ---------------------------------------------------------------------------------

    def paste_image(self) -> None:
        """From the clipboard, which may take a while to ask."""
        chat = self._chat

        def look() -> None:
            try:
                picture = from_clipboard(chat.options.environ, chat.options.cwd)
            except UsageError as e:
                error = e
                chat.post(lambda: chat.hint(f"{error}" + (f"; {error.hint}" if error.hint else "")))
                return
            chat.post(lambda: self._attach(picture))

        threading.Thread(target=look, name="agentsh-clipboard", daemon=True).start()

    def pasted(self, text: str) -> None:
        """A paste is text, but names of pictures attach them."""
        editor = self._chat.editor
        dropped = None if editor.is_borrowed else dropped_pictures(text, self._chat.options.cwd)
        refused = () if dropped is None else self._attach_each(dropped.paths)
        if dropped is None or len(refused) == len(dropped.paths):
            editor.paste(text.replace("\r\n", "\n").replace("\r", "\n"))
        elif dropped.missing:
            refused += tuple(f"there is no file {safe_line(each, 60)}" for each in dropped.missing)
        if refused:
            self._chat.say("not attached: " + "; ".join(refused), "warn")

    def _attach_each(self, paths: Sequence[Path]) -> tuple[str, ...]:
        """Why each of those that cannot be attached cannot."""
        refused: list[str] = []
        for path in paths:
            try:
                self._attach(from_path(path))
            except UsageError as e:
                refused.append(safe_line(str(e), 160))
        return tuple(refused)

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

    def asks_for_help(self) -> bool:
        """`?` is a question where nothing is typed and nothing else is asked."""
        editor = self._chat.editor
        return not editor.draft and not editor.is_borrowed and self._chat.desk.question is None

    def card(self) -> None:
        self._actions.card()

    def unfold(self, kind: str) -> None:
        self._actions.read(kind)

    def next_level(self) -> None:
        if self._chat.busy:
            self._chat.hint("the level of thinking can be changed after the turn")
            return
        levels: list[str] = list(THINKING_LEVELS)
        index = levels.index(self._chat.state.thinking)
        self._chat.agent.set_thinking(levels[(index + 1) % len(levels)])
        self._chat.hint("", 0.0)  # nothing may stand over the line that now holds the level
        self._chat.refresh_report()
