"""The sessions that an editor has open, by id: begun, loaded, listed, closed.

An id is agentsh's own, so that the command line goes on with what an editor began, and the
reverse. Read next: editorsession.py, program.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from acp import schema

from agentsh.errors import SessionNotFoundError, UsageError
from agentsh.files import is_folder
from agentsh.jsontext import JsonObject
from agentsh.remote.acp.editorclient import EditorClient
from agentsh.remote.acp.editorsession import EditorSession
from agentsh.remote.acp.givenservers import GivenServer, given_servers
from agentsh.remote.acp.program import EditorHost, EditorProgram
from agentsh.remote.acp.prompts import prompted
from agentsh.remote.acp.responders import Responder, WrongParamsError
from agentsh.settings import ServerSettings

_TO_END = 4.0
"""Seconds that the turns have at the end of the process."""


class Sessions:
    """Those of one editor."""

    def __init__(
        self, program: EditorProgram, editor: EditorClient, fell: Callable[[BaseException], None]
    ) -> None:
        self._program = program
        self._editor = editor
        self._fell = fell
        self._lock = threading.Lock()
        self._open: dict[str, EditorSession] = {}
        self._is_over = False

    def get(self, session: str) -> EditorSession:
        """Raises SessionNotFoundError: it is not open here."""
        opened = self._open.get(session)
        if opened is None:
            raise SessionNotFoundError(f"no session {session[:80]!r} is open here")
        return opened

    # ---- begun and ended -----------------------------------------------------------------------

    def new(self, params: JsonObject, answer: Responder) -> None:
        wish = schema.NewSessionRequest.model_validate({"mcpServers": [], **params})
        cwd = folder_named(wish.cwd)
        session = self._opened(self._program.begin(cwd, self._servers(wish.mcp_servers)))
        answer.done(schema.NewSessionResponse(session_id=session.id))

    def _servers(self, given: Sequence[GivenServer]) -> Mapping[str, ServerSettings]:
        tables, left_out = given_servers(given)
        for words in left_out:
            self._program.tell(words)
        return tables

    def _opened(self, host: EditorHost) -> EditorSession:
        session = EditorSession(host, self._editor, self._program, self._fell)
        with self._lock:
            if not self._is_over:
                self._open[session.id] = session
                return session
        host.close()
        raise UsageError("the editor has ended")

    def close(self, params: JsonObject, answer: Responder) -> None:
        wish = schema.CloseSessionRequest.model_validate(params)
        session = self.get(wish.session_id)
        with self._lock:
            self._open.pop(session.id, None)
        session.close()
        answer.done(schema.CloseSessionResponse())

    def end(self) -> None:
        """End all of them, side by side; what does not end in time is left."""
        with self._lock:
            self._is_over = True
            sessions = [*self._open.values()]
            self._open.clear()
        threads = [
            threading.Thread(target=session.close, args=(_TO_END,), daemon=True)
            for session in sessions
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    # ---- what is wanted of one -----------------------------------------------------------------

    def prompt(self, params: JsonObject, answer: Responder) -> None:
        wish = schema.PromptRequest.model_validate(params)
        session = self.get(wish.session_id)
        session.prompt(prompted(wish.prompt, str(session.host.cwd)), answer)

    def cancel(self, session: str) -> None:
        """Of one that is not open: nothing to do."""
        opened = self._open.get(session)
        if opened is not None:
            opened.cancel()

    def set_mode(self, params: JsonObject, answer: Responder) -> None:
        wish = schema.SetSessionModeRequest.model_validate(params)
        session = self.get(wish.session_id)
        try:
            session.host.set_policy(wish.mode_id)
        except UsageError as e:
            raise WrongParamsError(str(e)) from e
        answer.done(schema.SetSessionModeResponse())


def folder_named(text: str) -> Path:
    """Raises WrongParamsError: no absolute path of a folder."""
    path = Path(text)
    if not path.is_absolute():
        raise WrongParamsError(f"cwd: {text[:300]!r} is no absolute path")
    if "\0" in text or not is_folder(path):
        raise WrongParamsError(f"cwd: there is no folder {text[:300]!r}")
    return path
