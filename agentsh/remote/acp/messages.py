"""Messages in, answers out: which method is whose, and that each request gets one answer.

`take` is called in the thread that reads and never waits for an endpoint, a server or a person:
what may take a while runs beside it. A bug in a request is its answer, and the next one is taken.
It does no IO: `say` is handed in. Read next: jsonrpc.py, sessions.py, editorsession.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from acp import PROTOCOL_VERSION, schema
from acp.meta import AGENT_METHODS
from pydantic import ValidationError

from agentsh.errors import AgentshError
from agentsh.jsontext import JsonObject
from agentsh.remote.acp.editorclient import EditorClient
from agentsh.remote.acp.jsonrpc import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    EditorNotice,
    EditorReply,
    EditorRequest,
    NoMessage,
    read_message,
)
from agentsh.remote.acp.program import EditorProgram
from agentsh.remote.acp.responders import Responder, WrongParamsError
from agentsh.remote.acp.sessions import Sessions
from agentsh.remote.stdio.framing import TooLong

_METHODS: Final = AGENT_METHODS


class Messages:
    """One editor's messages."""

    def __init__(
        self,
        program: EditorProgram,
        say: Callable[[JsonObject], None],
        fell: Callable[[BaseException], None],
    ) -> None:
        self._program = program
        self._say = say
        self._fell = fell
        self.editor = EditorClient(say)
        self.sessions = Sessions(program, self.editor, fell)
        sessions = self.sessions
        self._at_once: dict[str, Callable[[JsonObject, Responder], None]] = {
            _METHODS["initialize"]: self._initialize,
            _METHODS["authenticate"]: self._authenticate,
            _METHODS["session_prompt"]: sessions.prompt,
            _METHODS["session_set_mode"]: sessions.set_mode,
        }
        self._beside: dict[str, Callable[[JsonObject, Responder], None]] = {
            _METHODS["session_new"]: sessions.new,
            _METHODS["session_load"]: sessions.load,
            _METHODS["session_resume"]: sessions.resume,
            _METHODS["session_list"]: sessions.list,
            _METHODS["session_set_config_option"]: sessions.set_option,
            _METHODS["session_close"]: sessions.close,
        }

    def take(self, line: bytes | TooLong) -> None:
        """One line, and all that is to be said of it at once. Raises BrokenPipeError."""
        match read_message(line):
            case NoMessage(reply):
                self._say(reply)
            case EditorReply() as answer:
                self.editor.answered(answer)
            case EditorNotice(method, params):
                self._hear(method, params)
            case EditorRequest() as request:
                self._serve(request)

    def _hear(self, method: str, params: JsonObject) -> None:
        """What is no request has no answer, not even where it makes no sense."""
        if method != _METHODS["session_cancel"]:
            return
        try:
            self.sessions.cancel(schema.CancelNotification.model_validate(params).session_id)
        except ValidationError:
            self._program.tell(f"{method} without a session was ignored")

    def _serve(self, request: EditorRequest) -> None:
        answer = Responder(request.id, self._say)
        at_once = self._at_once.get(request.method)
        beside = self._beside.get(request.method)
        if at_once is not None:
            self._do(at_once, request.params, answer)
        elif beside is not None:
            threading.Thread(
                target=self._do_beside,
                args=(beside, request.params, answer),
                name=request.method,
                daemon=True,
            ).start()
        else:
            answer.failed(METHOD_NOT_FOUND, f"there is no method {request.method[:80]!r} here")

    def _do_beside(
        self, job: Callable[[JsonObject, Responder], None], params: JsonObject, answer: Responder
    ) -> None:
        try:
            self._do(job, params, answer)
        except BaseException as e:  # noqa: BLE001  # carried over to the thread that reads
            self._fell(e)

    def _do(
        self, job: Callable[[JsonObject, Responder], None], params: JsonObject, answer: Responder
    ) -> None:
        try:
            job(params, answer)
        except (ValidationError, WrongParamsError) as e:
            answer.wrong(e)
        except AgentshError as e:
            answer.refused(e)
        except OSError:
            raise
        except Exception as e:  # noqa: BLE001  # the door of a request: a bug is its answer
            answer.failed(INTERNAL_ERROR, self._program.report(e))

    # ---- the start -----------------------------------------------------------------------------

    def _initialize(self, params: JsonObject, answer: Responder) -> None:
        # whatever version is asked for, in whatever spelling: this one is spoken
        wish = schema.InitializeRequest.model_validate(
            {**params, "protocolVersion": PROTOCOL_VERSION}
        )
        if wish.client_capabilities is not None:
            self.editor.capabilities = wish.client_capabilities
        can = schema.AgentCapabilities(
            load_session=True,
            prompt_capabilities=schema.PromptCapabilities(image=True, embedded_context=True),
            mcp_capabilities=schema.McpCapabilities(http=True),
            session_capabilities=schema.SessionCapabilities(
                list=schema.SessionListCapabilities(),
                resume=schema.SessionResumeCapabilities(),
                close=schema.SessionCloseCapabilities(),
            ),
        )
        info = schema.Implementation(name="agentsh", version=self._program.version)
        answer.done(
            schema.InitializeResponse(
                protocol_version=PROTOCOL_VERSION,
                agent_capabilities=can,
                agent_info=info,
                auth_methods=[],
            )
        )

    def _authenticate(self, params: JsonObject, answer: Responder) -> None:
        raise WrongParamsError("there is no way to sign in here: keys are in agentsh's settings")
