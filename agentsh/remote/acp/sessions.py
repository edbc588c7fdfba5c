"""The sessions that an editor has open, by id: begun, loaded, listed, closed.

An id is agentsh's own, so that the command line goes on with what an editor began, and the
reverse. Read next: editorsession.py, options.py,
program.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from acp import schema

from agentsh.errors import SessionNotFoundError, UsageError
from agentsh.files import is_folder, real
from agentsh.jsontext import JsonObject, clean
from agentsh.remote.acp.editorclient import EditorClient
from agentsh.remote.acp.editorsession import EditorSession
from agentsh.remote.acp.givenservers import GivenServer, given_servers
from agentsh.remote.acp.program import EditorHost, EditorProgram
from agentsh.remote.acp.prompts import prompted
from agentsh.remote.acp.responders import Responder, WrongParamsError
from agentsh.sanitize import first_line
from agentsh.session.store.store import SessionRow
from agentsh.settings import ServerSettings

_A_PAGE: Final = 100
_LONGEST_CURSOR: Final = 9
_TO_END: Final = 4.0
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
        self._reopening = threading.Lock()
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
        answer.done(
            schema.NewSessionResponse(
                session_id=session.id,
                modes=session.options.modes(),
                config_options=session.options.listed(),
            )
        )
        session.begin_told()

    def load(self, params: JsonObject, answer: Responder) -> None:
        """Go on with a session that exists, and show all of it before the answer."""
        wish = schema.LoadSessionRequest.model_validate({"mcpServers": [], **params})
        session = self._reopened(wish.session_id, wish.cwd, wish.mcp_servers)
        session.replay()
        options = session.options
        answer.done(
            schema.LoadSessionResponse(modes=options.modes(), config_options=options.listed())
        )
        session.begin_told()

    def resume(self, params: JsonObject, answer: Responder) -> None:
        """Go on with it; the editor knows what was."""
        wish = schema.ResumeSessionRequest.model_validate({"mcpServers": [], **params})
        session = self._reopened(wish.session_id, wish.cwd, wish.mcp_servers or [])
        options = session.options
        answer.done(
            schema.ResumeSessionResponse(modes=options.modes(), config_options=options.listed())
        )
        session.begin_told()

    def _reopened(self, session: str, cwd: str, servers: Sequence[GivenServer]) -> EditorSession:
        folder = folder_named(cwd)
        with self._reopening:  # asked for twice, it is opened once
            opened = self._open.get(session)
            if opened is not None:
                return opened
            return self._opened(self._program.reopen(session, folder, self._servers(servers)))

    def list(self, params: JsonObject, answer: Responder) -> None:
        wish = schema.ListSessionsRequest.model_validate(params)
        rows = self._program.sessions(None if wish.cwd is None else folder_named(wish.cwd))
        start = _page(wish.cursor)
        end = start + _A_PAGE
        listed = [_listed(row) for row in rows[start:end]]
        cursor = str(end) if end < len(rows) else None
        answer.done(schema.ListSessionsResponse(sessions=listed, next_cursor=cursor))

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
        if not self._is_over:
            session.options.look(session.tell_late_options)
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
        session.options.set_mode(wish.mode_id)
        answer.done(schema.SetSessionModeResponse())
        session.tell_options()

    def set_option(self, params: JsonObject, answer: Responder) -> None:
        wish = schema.SetSessionConfigOptionSelectRequest.model_validate(params)
        session = self.get(wish.session_id)
        before = session.options.mode
        for words in session.options.choose(wish.config_id, wish.value):
            self._program.tell(words)
        listed = session.options.listed()
        answer.done(schema.SetSessionConfigOptionResponse(config_options=listed))
        mode = session.options.mode
        if mode != before:
            session.tell(
                schema.CurrentModeUpdate(session_update="current_mode_update", current_mode_id=mode)
            )


def folder_named(text: str) -> Path:
    """Where it is, whatever links name it, as a terminal has it.

    Raises WrongParamsError: no absolute path of a folder.
    """
    path = Path(text)
    if not path.is_absolute():
        raise WrongParamsError(f"cwd: {text[:300]!r} is no absolute path")
    if "\0" in text or not is_folder(path):
        raise WrongParamsError(f"cwd: there is no folder {text[:300]!r}")
    return real(path)


def _page(cursor: str | None) -> int:
    """Where it begins. Raises WrongParamsError."""
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdecimal()) or len(cursor) > _LONGEST_CURSOR:
        raise WrongParamsError(f"cursor: {cursor[:40]!r} is none of ours")
    return int(cursor)


def _listed(row: SessionRow) -> schema.SessionInfo:
    title = row.name or row.title or row.prompt
    return schema.SessionInfo(
        session_id=row.id,
        cwd=clean(row.cwd),
        title=None if title is None else first_line(title, 200),
        updated_at=row.updated,
    )
