"""The draft: what is being typed, and when it is a whole message.

Enter gives the text to send, unless a completion is chosen or a backslash breaks the line. What is
cleared stays recallable; what comes back from the queue stands before the draft. Nothing is lost.
Read next: repl.py, history.py, completion.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document

from agentsh.ui.completion import ChatCompleter
from agentsh.ui.history import PromptHistory


class Editor:
    """The buffer of the chat with its rules. `typed` is told of every change."""

    def __init__(self, history: Path | None, cwd: Path, typed: Callable[[], None]) -> None:
        self.buffer = Buffer(
            multiline=True,
            history=PromptHistory(history),
            completer=ChatCompleter(cwd),
            complete_while_typing=True,
            tempfile_suffix=".md",
            on_text_changed=lambda _: typed(),
        )

    @property
    def draft(self) -> str:
        return self.buffer.text

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
        return self.take()

    def take(self) -> str | None:
        """Empty the editor; its text, if it says anything."""
        text = self.buffer.text
        if not text.strip():
            return None
        self.clear()
        return text

    def clear(self) -> None:
        """The draft goes into the history, where Up finds it."""
        self.buffer.reset(append_to_history=True)

    def newline(self) -> None:
        self.buffer.insert_text("\n")

    def set_draft(self, text: str) -> None:
        self.buffer.document = Document(text, len(text))

    def put_back(self, texts: Sequence[str]) -> None:
        """What was queued stands before the draft."""
        said = [text for text in texts if text.strip()]
        if said:
            self.set_draft("\n".join([*said, self.draft] if self.draft else said))
