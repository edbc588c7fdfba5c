"""The editor, as whoever serves it sees it: told things, asked things, from any thread.

A question waits in the thread that asks, until it is answered, is called off, takes too long, or
the editor is gone; an answer that comes later is nobody's. It does no IO: `say` is handed in.
Read next: jsonrpc.py, questions.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from acp import schema
from acp.meta import CLIENT_METHODS
from msgspec import Struct
from pydantic import BaseModel

from agentsh.jsontext import JsonObject
from agentsh.remote.acp.jsonrpc import (
    INTERNAL_ERROR,
    EditorReply,
    MessageId,
    notification_message,
    request_message,
)


class EditorFailedError(Exception):
    """The editor answered with an error. `code` is JSON-RPC's."""

    def __init__(self, words: str, code: int) -> None:
        super().__init__(words)
        self.code = code


class OpenQuestion(Struct, eq=False):
    """What was asked, and what has come of it; made by `EditorClient.ask`."""

    id: int
    answer: EditorReply | None = None
    is_over: bool = False


class EditorClient:
    """One client. `say` writes a message; it may raise BrokenPipeError."""

    def __init__(self, say: Callable[[JsonObject], None]) -> None:
        self._say = say
        self._news = threading.Condition()
        self._open: dict[MessageId, OpenQuestion] = {}
        self._count = 0
        self._is_gone = False
        self.capabilities = schema.ClientCapabilities()
        """What it said that it can do."""

    def tell(self, session: str, update: BaseModel) -> None:
        """An update of a session."""
        params: JsonObject = {"sessionId": session, "update": spelled(update)}
        self._say(notification_message(CLIENT_METHODS["session_update"], params))

    def ask(self, method: str, params: BaseModel) -> OpenQuestion:
        """Put a question; `wait` for what comes of it."""
        with self._news:
            self._count += 1
            question = OpenQuestion(self._count, is_over=self._is_gone)
            if not self._is_gone:
                self._open[question.id] = question
        if not question.is_over:
            self._say(request_message(question.id, CLIENT_METHODS[method], spelled(params)))
        return question

    def wait(self, question: OpenQuestion, within: float | None = None) -> EditorReply | None:
        """The answer; None where it was called off, took too long, or the editor is gone.

        Raises EditorFailedError.
        """
        with self._news:
            self._news.wait_for(lambda: question.is_over, within)
            self._settle(question)
        answer = question.answer
        if answer is not None and answer.error is not None:
            words, code = answer.error.get("message"), answer.error.get("code")
            raise EditorFailedError(
                str(words)[:300], code if isinstance(code, int) else INTERNAL_ERROR
            )
        return answer

    def call_off(self, question: OpenQuestion) -> None:
        """Whoever waits for it goes on without an answer."""
        with self._news:
            self._settle(question)

    def answered(self, answer: EditorReply) -> None:
        with self._news:
            question = self._open.get(answer.id)
            if question is not None:
                question.answer = answer
                self._settle(question)

    def leave(self) -> None:
        """It is gone: nobody answers any more."""
        with self._news:
            self._is_gone = True
            for question in [*self._open.values()]:
                self._settle(question)

    def _settle(self, question: OpenQuestion) -> None:
        self._open.pop(question.id, None)
        question.is_over = True
        self._news.notify_all()


def spelled(value: BaseModel) -> JsonObject:
    """A value of the protocol as JSON; what was left out is left out."""
    spelling: JsonObject = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return spelling
