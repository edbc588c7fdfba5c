"""The one response that each command gets: now, or when what it began is done.

Errors become words and a code here and nowhere else. Read next: records.py, dispatcher.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from agentsh.errors import (
    AgentshError,
    AmbiguousSessionError,
    BusyError,
    EntryNotFoundError,
    LineNotFoundError,
    ModelNotFoundError,
    ProviderError,
    SessionNotFoundError,
    SettingsError,
    SkillNotFoundError,
    UsageError,
)
from agentsh.remote.rpc.records import (
    NO_DATA,
    CommandId,
    ReplyData,
    encode_failure,
    encode_success,
)
from agentsh.remote.values.rpcdata import ErrorCode


class Outcome(Struct, frozen=True):
    """What a command came to. `after`: what is said once the response is."""

    data: ReplyData = NO_DATA
    after: Callable[[], None] | None = None


DONE: Final = Outcome()


class Reply(Struct, frozen=True):
    """Where the response to one command goes."""

    kind: str
    id: CommandId
    write: Callable[[bytes], None]

    def done(self, outcome: Outcome) -> None:
        self.write(encode_success(self.id, self.kind, outcome.data))
        if outcome.after is not None:
            outcome.after()

    def failed(self, words: str, code: ErrorCode) -> None:
        self.write(encode_failure(self.id, self.kind, words, code))

    def refused(self, error: AgentshError) -> None:
        hint = f" ({error.hint})" if error.hint else ""
        self.failed(f"{error}{hint}", error_code(error))


def error_code(error: AgentshError) -> ErrorCode:
    """The code that programs get for an error."""
    match error:
        case BusyError():
            return "busy"
        case (
            ModelNotFoundError()
            | SkillNotFoundError()
            | SessionNotFoundError()
            | EntryNotFoundError()
            | AmbiguousSessionError()
            | LineNotFoundError()
        ):
            return "not_found"
        case UsageError() | SettingsError():
            return "usage"
        case ProviderError():
            return "endpoint"
        case _:
            return "refused"
