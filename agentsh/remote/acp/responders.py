"""The one answer that each request gets, and the code of each error.

Errors become words and a code here and nowhere else. Read next: jsonrpc.py, messages.py.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from pydantic import BaseModel, ValidationError

from agentsh.errors import (
    AgentshError,
    EntryNotFoundError,
    ModelNotFoundError,
    NotConfiguredError,
    SessionNotFoundError,
    SkillNotFoundError,
)
from agentsh.jsontext import JsonObject
from agentsh.remote.acp.editorclient import spelled
from agentsh.remote.acp.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    NOT_CONFIGURED,
    NOT_FOUND,
    MessageId,
    failure_message,
    result_message,
)

_MOST_COMPLAINTS = 5


class WrongParamsError(Exception):
    """What was asked cannot be meant so; the words are for the editor."""


class Responder(Struct, frozen=True):
    """Where the answer to one request goes."""

    id: MessageId
    say: Callable[[JsonObject], None]

    def done(self, result: BaseModel) -> None:
        self.say(result_message(self.id, spelled(result)))

    def failed(self, code: int, words: str) -> None:
        self.say(failure_message(self.id, code, words))

    def refused(self, error: AgentshError) -> None:
        hint = f"\n{error.hint}" if error.hint else ""
        self.failed(jsonrpc_code(error), f"{error}{hint}")

    def wrong(self, error: ValidationError | WrongParamsError) -> None:
        words = str(error) if isinstance(error, WrongParamsError) else "; ".join(_complaints(error))
        self.failed(INVALID_PARAMS, words)


def _complaints(error: ValidationError) -> list[str]:
    """What is wrong and where, without what was given: that may be large, or a secret."""
    return [
        f"{'.'.join(map(str, each['loc'])) or 'params'}: {each['msg']}"
        for each in error.errors(include_url=False, include_context=False, include_input=False)
    ][:_MOST_COMPLAINTS]


def jsonrpc_code(error: AgentshError) -> int:
    """JSON-RPC's code, or the protocol's own."""
    match error:
        case NotConfiguredError():
            return NOT_CONFIGURED
        case SessionNotFoundError():
            return NOT_FOUND
        case SkillNotFoundError() | ModelNotFoundError() | EntryNotFoundError():
            return INVALID_PARAMS
        case _:
            return INTERNAL_ERROR
