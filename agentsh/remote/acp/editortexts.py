"""What an editor has of files that is not on the disk, so that no unsaved text is lost.

It is asked for a file of the project that is there and is text. What it gives counts where it is
another text than the disk's, and not one that this session knows from before a change of its own:
an editor that has not seen the change yet loses. One that does not answer in time is not asked
again for that file; one that fails is passed over. Read next: tools/base.py, editorsession.py.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

from acp import schema
from pydantic import BaseModel, ValidationError

from agentsh.errors import ToolFailedError
from agentsh.files import read_foreign, real
from agentsh.remote.acp.editorclient import EditorFailedError
from agentsh.remote.acp.jsonrpc import EditorReply

_READ: Final = 10.0
"""Seconds that an editor has for the text of a file."""
_WRITE: Final = 30.0
_MOST: Final = 10_000_000
"""Bytes of a file that an editor is asked for."""


class UnsavedTexts:
    """Of one session. `ask` puts a question to the editor: None where no answer comes in time."""

    def __init__(
        self,
        session: str,
        folder: Path,
        *,
        can_write: bool,
        ask: Callable[[str, BaseModel, float], EditorReply | None],
        patience: float = _READ,
    ) -> None:
        self._session = session
        self._folder = real(folder)
        self._can_write = can_write
        self._ask = ask
        self._lock = threading.Lock()
        self._saved: dict[Path, set[str]] = {}
        """Texts that were on the disk when this session looked, by their plain form."""
        self._read: dict[Path, str] = {}
        """The text in the editor that this session last read or put."""
        self._silent: set[Path] = set()
        self._patience = patience

    def unsaved(self, path: Path) -> str | None:
        if path in self._silent or not path.is_relative_to(self._folder):
            return None
        saved = _saved_text(path)
        if saved is None:
            return None
        text = self._asked(path)
        with self._lock:
            known_texts = self._saved.setdefault(path, set())
            known_texts.add(_digest(saved))
            is_saved = text is None or _digest(text) in known_texts
        return None if is_saved else text

    def _asked(self, path: Path) -> str | None:
        wish = schema.ReadTextFileRequest(session_id=self._session, path=str(path))
        began = time.monotonic()
        try:
            answer = self._ask("fs_read_text_file", wish, self._patience)
            if answer is None:
                if time.monotonic() - began >= self._patience:  # or else it was called off
                    self._silent.add(path)
                return None
            return schema.ReadTextFileResponse.model_validate(answer.result).content
        except (EditorFailedError, ValidationError):
            return None  # not open there, or it cannot: the disk counts

    def change(self, path: Path, text: str) -> Literal["unknown", "same", "changed"]:
        read = self._read.get(path)
        if read is None:
            return "unknown"
        return "same" if read == _digest(text) else "changed"

    def learn(self, path: Path, text: str) -> None:
        self._read[path] = _digest(text)

    def put(self, path: Path, text: str) -> None:
        if not self._can_write:
            raise ToolFailedError(
                f"{path.name} has unsaved text in the user's editor, which takes none from here;"
                " nothing was written. Ask the user to save it."
            )
        wish = schema.WriteTextFileRequest(session_id=self._session, path=str(path), content=text)
        try:
            answer = self._ask("fs_write_text_file", wish, _WRITE)
        except EditorFailedError as e:
            raise ToolFailedError(f"the user's editor did not take the text: {e}") from e
        if answer is None:
            raise ToolFailedError(f"the user's editor did not say whether it took {path.name}")
        self.learn(path, text)


def _saved_text(path: Path) -> str | None:
    """What is on the disk; None: it is no text of ours to compare."""
    try:
        data = read_foreign(path, _MOST)
        return None if b"\0" in data else data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None


def _digest(text: str) -> str:
    """Of the words alone: editors have marks and line ends apart from the text."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n")
    return hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()
