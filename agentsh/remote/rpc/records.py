"""What is said in answer to a command, as bytes that need no second look. Pure.

Read next: commands.py, remote/stdio/framing.py.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from msgspec import Struct, to_builtins

from agentsh.jsontext import JsonObject, dumps
from agentsh.remote.values.rpcdata import ErrorCode, RpcData
from agentsh.remote.values.rpcrecords import RpcRecord, record_json

CommandId: TypeAlias = str | int | float | None


class Encoded(Struct, frozen=True):
    """A value that is JSON text already."""

    text: bytes


NO_DATA: Final = Encoded(b"")
"""A response that says no more than that it succeeded."""
NULL: Final = Encoded(b"null")


ReplyData: TypeAlias = RpcData | JsonObject | Encoded
"""An object is a value of `--json`, handed on."""


def encode_record(record: RpcRecord) -> bytes:
    """An event or a question, as a line."""
    return dumps(record_json(record)) + b"\n"


def encode_success(command_id: CommandId, command: str, data: ReplyData) -> bytes:
    """The response to a command that was done."""
    head = dumps(_head(command_id, command, success=True))
    text = data.text if isinstance(data, Encoded) else dumps(to_builtins(data))
    if not text:
        return head + b"\n"
    return b"".join((head[:-1], b',"data":', text, b"}\n"))


def encode_failure(command_id: CommandId, command: str, words: str, code: ErrorCode) -> bytes:
    """The response to a command that was not done."""
    head = _head(command_id, command, success=False)
    return dumps(head | {"error": words, "code": code}) + b"\n"


def _head(command_id: CommandId, command: str, *, success: bool) -> JsonObject:
    named: JsonObject = {} if command_id is None else {"id": command_id}
    return named | {"type": "response", "command": command, "success": success}
