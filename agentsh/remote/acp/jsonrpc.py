"""JSON-RPC 2.0 over lines: what one line is, and how a message is spelled. Pure.

The package's own reader takes lines of any length, gives no answer to what it cannot parse, and
ends at a line that is no object; so this is ours. Batches are none of the protocol's.
Read next: editorclient.py, messages.py.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from msgspec import Struct

from agentsh.jsontext import JsonError, JsonObject, JsonValue, loads
from agentsh.remote.stdio.framing import TooLong

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
NOT_CONFIGURED: Final = -32000
"""The protocol calls it "authentication required"; editors show its words."""
NOT_FOUND: Final = -32002

MessageId: TypeAlias = str | int | float | None


class EditorRequest(Struct, frozen=True):
    """A request: it gets one answer."""

    id: MessageId
    method: str
    params: JsonObject


class EditorNotice(Struct, frozen=True):
    """A notification."""

    method: str
    params: JsonObject


class EditorReply(Struct, frozen=True):
    """What became of a request of ours."""

    id: MessageId
    result: JsonValue = None
    error: JsonObject | None = None


class NoMessage(Struct, frozen=True):
    """A line that is none of these, and what is said of it."""

    reply: JsonObject


Line: TypeAlias = EditorRequest | EditorNotice | EditorReply | NoMessage


def read_message(line: bytes | TooLong) -> Line:
    """What one line says."""
    if isinstance(line, TooLong):
        words = "this line is longer than 64 MiB, and was not read"
        return NoMessage(failure_message(None, PARSE_ERROR, words))
    try:
        value = loads(line)
    except JsonError as e:
        return NoMessage(failure_message(None, PARSE_ERROR, f"this line is no JSON: {e}"[:300]))
    if not isinstance(value, dict):
        return _invalid(None, "a message is an object")
    number = value.get("id")
    if isinstance(number, bool) or not isinstance(number, str | int | float | None):
        return _invalid(None, "an id is a number, a string or null")
    return _read(value, number)


def _read(value: JsonObject, number: MessageId) -> Line:
    method, params = value.get("method"), value.get("params")
    if method is None and "id" in value and ("result" in value or "error" in value):
        error = value.get("error")
        is_error = error is not None
        return EditorReply(
            number,
            value.get("result"),
            error if isinstance(error, dict) else {} if is_error else None,
        )
    if not isinstance(method, str):
        return _invalid(number, "a message has a method, or is an answer with result or error")
    if params is not None and not isinstance(params, dict):
        return _invalid(number, "params is an object")
    if "id" not in value:
        return EditorNotice(method, params or {})
    return EditorRequest(number, method, params or {})


def _invalid(number: MessageId, words: str) -> NoMessage:
    return NoMessage(failure_message(number, INVALID_REQUEST, words))


def result_message(number: MessageId, result: JsonObject) -> JsonObject:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def failure_message(
    number: MessageId, code: int, words: str, data: JsonObject | None = None
) -> JsonObject:
    error: JsonObject = {"code": code, "message": words}
    if data:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": number, "error": error}


def request_message(number: int, method: str, params: JsonObject) -> JsonObject:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def notification_message(method: str, params: JsonObject) -> JsonObject:
    return {"jsonrpc": "2.0", "method": method, "params": params}
