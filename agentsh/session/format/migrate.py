"""Older versions of the file → version 3, in memory: bytes in, bytes out (R80).

Version 1 is a plain list: every line gets an id (by its number, so each reading gives the same)
and the line before as its parent; a compaction's index into the list becomes an id. Version 2 only
spelt one role otherwise. Lines that are no JSON object stay as they are. What reads and writes
files: converted.py.
"""

from __future__ import annotations

from agentsh import jsontext
from agentsh.jsontext import JsonError, JsonObject, JsonValue
from agentsh.session.format.entries import VERSION
from agentsh.session.format.ids import entry_id, salt


def convert(data: bytes) -> bytes:
    """The file as version 3. `data` begins with a header of an older version."""
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    conversion = _Conversion()
    out = [conversion.line(number, line) for number, line in enumerate(lines)]
    return b"\n".join(out) + b"\n"


class _Conversion:
    def __init__(self) -> None:
        self._version: int | None = None
        """Of the file; None before the header."""
        self._salt = 0
        self._ids: list[str | None] = []
        """Of each parsed line, the header's place included (firstKeptEntryIndex counts so)."""
        self._last: str | None = None

    def line(self, number: int, line: bytes) -> bytes:
        try:
            value = jsontext.loads_object(line.removeprefix(b"\xef\xbb\xbf"))
        except JsonError:
            return line
        if self._version is None:
            return self._header(value, line)
        if value.get("type") == "session":
            return line
        if self._version < 2:
            value = self._chained(number, value)
        return jsontext.dumps(_renamed(value))

    def _header(self, value: JsonObject, line: bytes) -> bytes:
        if value.get("type") != "session":
            return line
        version, name = value.get("version", 1), value.get("id")
        self._version = version if isinstance(version, int) else 1
        self._salt = salt(name if isinstance(name, str) else "")
        self._ids.append(None)
        members = {k: v for k, v in value.items() if k not in {"type", "version"}}
        return jsontext.dumps({"type": "session", "version": VERSION, **members})

    def _chained(self, number: int, value: JsonObject) -> JsonObject:
        name = entry_id(number, self._salt)
        members = {
            k: v for k, v in value.items() if k not in {"type", "id", "parentId", "timestamp"}
        }
        if value.get("type") == "compaction":
            index = members.pop("firstKeptEntryIndex", None)
            first_kept = self._kept(index)
            if first_kept is not None:
                members["firstKeptEntryId"] = first_kept
        out: JsonObject = {"type": value.get("type"), "id": name, "parentId": self._last}
        if "timestamp" in value:
            out["timestamp"] = value["timestamp"]
        self._ids.append(name)
        self._last = name
        return {**out, **members}

    def _kept(self, index: JsonValue) -> str | None:
        """An index to the header or to a later line keeps nothing."""
        if isinstance(index, int) and 0 < index < len(self._ids):
            return self._ids[index]
        return None


def _renamed(value: JsonObject) -> JsonObject:
    message = value.get("message")
    if isinstance(message, dict) and message.get("role") == "hookMessage":
        return {**value, "message": {**message, "role": "custom"}}
    return value
