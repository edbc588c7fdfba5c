"""The draft: what is being typed, and when it is a whole message.

Enter gives the text to send, unless a completion is chosen or a backslash breaks the line. What is
cleared stays recallable; what comes back from the queue stands before the draft. The line can be
borrowed for something else (a command to change, a reason); the draft comes back afterwards.
Nothing is lost. Read next: keyboard.py, drafts.py, history.py, completion.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document

from agentsh.messages import Image
from agentsh.ui.attachments import Attachment
from agentsh.ui.completion import ChatCompleter
from agentsh.ui.history import PromptHistory

Taken: TypeAlias = Callable[[str | None], None]


class _Loan(Struct, frozen=True):
    """The draft that waits, and who is told what was typed instead."""

    draft: Document
    mark: str
    done: Taken


class Editor:
    """The buffer of the chat with its rules. `typed` is told of every change."""

    def __init__(self, history: Path | None, cwd: Path, typed: Callable[[], None]) -> None:
        self._loan: _Loan | None = None
        self.attachments: tuple[Attachment, ...] = ()
        self.buffer = Buffer(
            multiline=True,
            history=PromptHistory(history),
            completer=ChatCompleter(cwd),
            complete_while_typing=True,
            enable_history_search=False,
            tempfile_suffix=".md",
            on_text_changed=lambda _: typed(),
        )

    @property
    def draft(self) -> str:
        """What is meant for the model, also while the line is borrowed."""
        return self.buffer.text if self._loan is None else self._loan.draft.text

    @property
    def is_borrowed(self) -> bool:
        return self._loan is not None

    @property
    def mark(self) -> str | None:
        """What stands before the line instead of the usual mark."""
        return None if self._loan is None else self._loan.mark

    def enter(self) -> str | None:
        """The message to send; None: the key meant something else."""
        state = self.buffer.complete_state
        if state is not None and state.current_completion is not None:
            self.buffer.complete_state = None
            return None
        if self.buffer.document.char_before_cursor == "\\":
            self.buffer.delete_before_cursor()
            self.newline()
            return None
        if self._loan is not None:
            self.give_back(self.buffer.text)
            return None
        return self.take()

    def take(self) -> str | None:
        """Empty the editor; its text, if it says anything or something is attached."""
        if self._loan is not None:
            return None
        text = self.buffer.text
        if not text.strip() and not self.attachments:
            return None
        self.clear()
        return text

    def take_attachments(self) -> tuple[Image, ...]:
        taken, self.attachments = self.attachments, ()
        return tuple(each.image for each in taken)

    def clear(self) -> None:
        """The draft goes into the history, where Up finds it."""
        self.buffer.reset(append_to_history=self._loan is None)

    def newline(self) -> None:
        self.buffer.insert_text("\n")

    def set_draft(self, text: str) -> None:
        if self._loan is not None:
            self.give_back(None)
        self.buffer.document = Document(text, len(text))

    def put_back(self, texts: Sequence[str]) -> None:
        """What was queued stands before the draft."""
        said = [text for text in texts if text.strip()]
        if said:
            self.set_draft("\n".join([*said, self.draft] if self.draft else said))

    # ---- the line, for something else -----------------------------------------------------------

    def borrow(self, text: str, mark: str, done: Taken) -> None:
        """Let the person type something else; `done` gets it, None where they would rather not."""
        if self._loan is None:
            self._loan = _Loan(self.buffer.document, mark, done)
            self.buffer.document = Document(text, len(text))

    def give_back(self, typed: str | None) -> None:
        """The draft is in the editor again, and whoever borrowed it is told."""
        loan, self._loan = self._loan, None
        if loan is not None:
            self.buffer.document = loan.draft
            loan.done(typed)

    # ---- attachments ----------------------------------------------------------------------------

    def attach(self, attachment: Attachment) -> None:
        self.attachments = (*self.attachments, attachment)

    def drop_attachment(self) -> None:
        self.attachments = self.attachments[:-1]
