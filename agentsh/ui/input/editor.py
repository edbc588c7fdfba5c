"""The draft: what is being typed, and when it is a whole message.

Enter gives the text to send, unless a file's name is chosen with the arrows or a backslash breaks
the line; of commands it takes the one that the menu marks. What is cleared stays recallable; what
comes back from the queue stands before the draft. The line can be borrowed for something else (a
command to change, a reason); the draft comes back afterwards. Nothing is lost. Text that nobody
typed (several lines that were pasted, a prompt that came back) is meant for the model, however it
begins: only what was typed is a command. Read next: keyboard.py, drafts.py, history.py,
completion.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct
from prompt_toolkit.buffer import CompletionState
from prompt_toolkit.document import Document

from agentsh.agent.turn.inbox import Queued
from agentsh.ui.input.attachments import Attachment, Pastes, attached_again, same_start
from agentsh.ui.input.clusters import ClusterBuffer, RowWidths
from agentsh.ui.input.commands import slash_command
from agentsh.ui.input.completion import ChatCompleter
from agentsh.ui.input.history import PromptHistory

_PICTURE = re.compile(r"!\[[^\]\n]*\]\(")
"""How Markdown begins a picture."""
Taken: TypeAlias = Callable[[str | None], None]


class _Loan(Struct, frozen=True):
    """The draft that waits, and who is told what was typed instead."""

    draft: Document
    is_said: bool
    mark: str
    done: Taken
    hides: Callable[[str], bool]


class Editor:
    """The buffer of the chat with its rules. `typed` is told of every change.

    `touched` gives the files that are offered first.
    """

    def __init__(
        self,
        history: Path | None,
        cwd: Path,
        typed: Callable[[], None],
        touched: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._loan: _Loan | None = None
        self._told = typed
        self._is_said = False
        self._row = 1
        self._tabbed: tuple[CompletionState, int | None] | None = None
        self._pastes = Pastes()
        self._before = ""
        self.attachments: tuple[Attachment, ...] = ()
        self.completer = ChatCompleter(cwd, touched=touched)
        self.buffer = ClusterBuffer(
            multiline=True,
            history=PromptHistory(history),
            completer=self.completer,
            complete_while_typing=True,
            enable_history_search=False,
            tempfile_suffix=".md",
            on_text_changed=lambda _: self._changed(),
            on_completions_changed=lambda _: self._offer(),
        )

    @property
    def draft(self) -> str:
        """What is meant for the model, pastes whole, also while the line is borrowed."""
        text = self.buffer.text if self._loan is None else self._loan.draft.text
        return self._pastes.whole(text)

    @property
    def is_borrowed(self) -> bool:
        return self._loan is not None

    @property
    def is_hidden(self) -> bool:
        """What is typed now must not be seen."""
        return self._loan is not None and self._loan.hides(self.buffer.text)

    @property
    def mark(self) -> str | None:
        """What stands before the line instead of the usual mark."""
        if self._loan is not None:
            return self._loan.mark
        return "$ " if self.is_command else None

    @property
    def is_said(self) -> bool:
        """The draft is for the model, whatever it begins with."""
        return self._is_said or _PICTURE.match(self.draft) is not None

    @property
    def is_command(self) -> bool:
        """Enter would give the draft to the shell."""
        return self._loan is None and self.buffer.text.startswith("!") and not self.is_said

    def enter(self) -> str | None:
        """The message to send; None: the key meant something else."""
        state = self._menu
        if state is not None and state.current_completion is not None:
            is_whole = self._is_command_word or self._is_tabbed(state)
            self.choose()
            self.buffer.complete_state = None
            if not is_whole or self._wants_more():
                return None
        if self.buffer.document.char_before_cursor == "\\":
            self.buffer.delete_before_cursor()
            self.newline()
            return None
        if self._loan is not None:
            self.give_back(self.buffer.text)
            return None
        return self.take()

    @property
    def _menu(self) -> CompletionState | None:
        """What may follow, as long as it holds what it marks.

        prompt_toolkit takes the only one out of the list when it turns out to add nothing, also
        where it was chosen before that.
        """
        state = self.buffer.complete_state
        if state is None or state.complete_index is None:
            return state
        return state if state.complete_index < len(state.completions) else None

    def choose(self) -> None:
        """Put what is marked in the menu into the text, where it is only shown yet."""
        state = self._menu
        if state is not None and state.complete_index is not None:
            self.buffer.go_to_completion(state.complete_index)

    def tab(self) -> None:
        """The next one of the menu, which is in the text from here on: Enter sends it."""
        if self._menu is None:
            self.buffer.complete_state = None
        self.buffer.complete_next()
        state = self._menu
        self._tabbed = None if state is None else (state, state.complete_index)

    def _is_tabbed(self, state: CompletionState) -> bool:
        """Tab chose it last, and nothing may follow in it, as in a folder."""
        is_folder = self.buffer.document.text_before_cursor.endswith("/")
        return self._tabbed == (state, state.complete_index) and not is_folder

    @property
    def offers(self) -> bool:
        """The menu marks something that is not in the text yet."""
        state = self._menu
        return (
            state is not None
            and state.current_completion is not None
            and self.buffer.text == state.original_document.text
        )

    def _offer(self) -> None:
        """Of commands the first is marked: Enter and Tab take it. Files are only shown."""
        state = self.buffer.complete_state
        if state is None or state.complete_index is not None or not self._is_command_word:
            return
        names = [completion.text for completion in state.completions]
        if names and names != [self.buffer.text[1:]]:  # a menu of what is typed is closed again
            state.complete_index = 0

    @property
    def _is_command_word(self) -> bool:
        text = self.buffer.text
        return text.startswith("/") and not any(map(str.isspace, text))

    def _wants_more(self) -> bool:
        """A command that needs an argument gets its blank, and waits for it."""
        command = slash_command(self.buffer.text[1:])
        if command is None or not command.wants_argument:
            return False
        self.buffer.insert_text(" ", fire_event=False)
        return True

    def take(self) -> str | None:
        """Empty the editor; its text, if it says anything or something is attached."""
        if self._loan is not None:
            return None
        text = self.draft
        if not text.strip() and not self.attachments:
            return None
        self.clear()
        return text

    def take_attachments(self) -> tuple[Attachment, ...]:
        taken, self.attachments = self.attachments, ()
        return taken

    def clear(self) -> None:
        """The draft goes into the history, where Up finds it."""
        if self._loan is None:
            self.expand()
        self.buffer.reset(append_to_history=self._loan is None)
        if self._loan is None:
            self._pastes.clear()
            # prompt_toolkit calls an emptied buffer no change of its text
            self._before, self._is_said = "", False
            self._told()

    def expand(self) -> bool:
        """Show what was pasted in full; whether there was anything to show."""
        text = self._pastes.whole(self.buffer.text)
        if self._loan is not None or text == self.buffer.text:
            return False
        said = self._is_said
        self._before = text  # no mark is harmed by this
        self.buffer.document = Document(text, len(text))
        self._is_said = said
        return True

    def newline(self) -> None:
        self.buffer.insert_text("\n")

    def paste(self, text: str) -> None:
        """Several lines, or a picture in Markdown, are no command."""
        is_first = not self.buffer.document.text_before_cursor
        shown = text if self._loan is not None else self._pastes.mark(text)
        self.buffer.insert_text(shown, fire_event=False)  # nothing to complete
        if "\n" in text or (is_first and text.startswith("![")):
            self._is_said = self._is_said or self.draft.startswith(("!", "/"))

    def set_draft(self, text: str, *, said: bool = False) -> None:
        """`said`: it was a prompt before, and is no command."""
        if self._loan is not None:
            self.give_back(None)
        self._before = text
        self.buffer.document = Document(text, len(text))
        self._is_said = said

    def put_back(self, texts: Sequence[str], *, said: bool = True) -> None:
        """What was queued stands before the draft."""
        back = [text for text in texts if text.strip()]
        if back:
            self.set_draft("\n".join([*back, self.draft] if self.draft else back), said=said)

    def take_in(self, queued: Sequence[Queued]) -> None:
        """What was queued is the draft again, with its pictures."""
        self.put_back([each.text for each in queued])
        pictures = attached_again(image for each in queued for image in each.images)
        self.attachments = (*pictures, *self.attachments)

    # ---- up and down ----------------------------------------------------------------------------

    def up(self, widths: RowWidths, count: int = 1) -> None:
        """By rows; from a draft's first one to its beginning, then to earlier prompts (U24)."""
        if self._menu is not None:
            self.buffer.complete_previous(count)
            return
        for _ in range(count):
            if self.buffer.row_up(widths):
                continue
            if self._is_own and self.buffer.has_rows(widths) and self.buffer.cursor_position:
                self.buffer.cursor_position = 0
            elif self.buffer.selection_state is None:
                self.buffer.history_backward()

    def down(self, widths: RowWidths, count: int = 1) -> None:
        """By rows; from the last one of a draft to its end, of an earlier prompt to a later one."""
        if self._menu is not None:
            self.buffer.complete_next(count)
            return
        for _ in range(count):
            if self.buffer.row_down(widths):
                continue
            if self._is_own:
                self.buffer.cursor_position = len(self.buffer.text)
            elif self.buffer.selection_state is None:
                self.buffer.history_forward()

    def page(self, widths: RowWidths, rows: int) -> None:
        """So many rows up (below zero) or down, and never out of a draft that has several."""
        if not self.buffer.has_rows(widths):
            (self.up if rows < 0 else self.down)(widths)
            return
        for _ in range(abs(rows)):
            if not (self.buffer.row_up(widths) if rows < 0 else self.buffer.row_down(widths)):
                self.buffer.cursor_position = 0 if rows < 0 else len(self.buffer.text)

    @property
    def _is_own(self) -> bool:
        """What is in the editor is the draft, and no earlier prompt."""
        return self.buffer.working_index == len(self.buffer._working_lines) - 1

    # ---- the line, for something else -----------------------------------------------------------

    def borrow(
        self, text: str, mark: str, done: Taken, hides: Callable[[str], bool] = lambda _: False
    ) -> None:
        """Let the person type something else; `done` gets it, None where they would rather not.

        `hides`: what must not be seen.
        """
        if self._loan is None:
            self._loan = _Loan(self.buffer.document, self._is_said, mark, done, hides)
            self.buffer.document = Document(text, len(text))

    def give_back(self, typed: str | None) -> None:
        """The draft is in the editor again, and whoever borrowed it is told."""
        loan, self._loan = self._loan, None
        if loan is not None:
            self.buffer.document = loan.draft
            self._is_said = loan.is_said
            loan.done(typed)

    # ---- attachments ----------------------------------------------------------------------------

    def attach(self, attachment: Attachment) -> None:
        self.attachments = (*self.attachments, attachment)

    def drop_attachment(self) -> None:
        self.attachments = self.attachments[:-1]

    # ---- inside ---------------------------------------------------------------------------------

    def _changed(self) -> None:
        text, before = self.buffer.text, self._before
        self._before = text
        mended = self._pastes.mended(before, text) if self._pastes else None
        if mended is not None:
            same_end = same_start(mended[::-1], text[::-1])
            self._before = mended
            self.buffer.document = Document(mended, max(0, len(mended) - same_end))
            return
        row = len(self.buffer._working_lines) - self.buffer.working_index
        if row != self._row:
            # another one of the history, counted from its end; how it came there nobody knows
            self._row = row
            self._is_said = is_plainly_said(text)
        elif not self._pastes.whole(text).startswith(("!", "/")):
            self._is_said = False
        self._told()


def is_plainly_said(text: str) -> bool:
    """A text of which nobody knows who wrote it is a command only where it is one line. Pure."""
    return "\n" in text.strip() or text.startswith("![")
