"""Bytes ↔ records: one JSON object a line, ended by LF, at most 64 MiB. Pure.

A CR before the LF is dropped, an empty line is nothing; U+2028 and its like are text. A line that
is longer is one failure and is skipped to its end, wherever its pieces come in. What is said goes
out as bytes that need no second look. Read next: commands.py.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from msgspec import Struct, to_builtins

from agentsh.jsontext import JsonObject, dumps
from agentsh.remote.values.rpcdata import ErrorCode, RpcData
from agentsh.remote.values.rpcrecords import RpcRecord, record_json

LONGEST_RECORD: Final = 64 << 20

CommandId: TypeAlias = str | int | float | None


class TooLong(Struct, frozen=True):
    """A line that was not read."""


class Encoded(Struct, frozen=True):
    """A value that is JSON text already."""

    text: bytes


NO_DATA: Final = Encoded(b"")
"""A response that says no more than that it succeeded."""
NULL: Final = Encoded(b"null")


class RecordSplitter:
    """Pieces of any size in, whole lines out."""

    def __init__(self, most: int = LONGEST_RECORD) -> None:
        self._most = most
        self._pieces: list[bytes] = []
        self._size = 0
        self._is_skipping = False

    def feed(self, data: bytes) -> list[bytes | TooLong]:
        """The lines that are whole now."""
        lines: list[bytes | TooLong] = []
        *whole, tail = data.split(b"\n")
        for piece in whole:
            lines += self._add(piece)
            lines += self._line()
        return [*lines, *self._add(tail)]

    def end(self) -> list[bytes | TooLong]:
        """The last line, where nothing ended it."""
        return self._line()

    def _add(self, piece: bytes) -> list[bytes | TooLong]:
        if self._is_skipping or not piece:
            return []
        self._size += len(piece)
        if self._size <= self._most:
            self._pieces.append(piece)
            return []
        self._is_skipping = True
        self._pieces.clear()
        return [TooLong()]

    def _line(self) -> list[bytes | TooLong]:
        line = b"".join(self._pieces).removesuffix(b"\r")
        self._pieces.clear()
        self._size, self._is_skipping = 0, False
        return [line] if line else []


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
