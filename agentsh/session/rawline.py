"""What verification must know of one line, read off its two ends; parsed only where that fails.

A line of ours begins with type, id, parentId, timestamp and ends with its stamp (codec.py,
seal.py), so id, parent, number and seal cost no JSON parser. This module judges nothing.
Read next: verify.py.
"""

from __future__ import annotations

import re

from msgspec import Struct

from agentsh.jsontext import JsonError, JsonObject, loads_object
from agentsh.session.seal import Mark, read_mark

_BEGINNING = re.compile(
    rb'\{"type":"(?P<type>\w+)","id":"(?P<id>[^"\\]+)",'
    rb'"parentId":(?:null|"(?P<parent>[^"\\]+)"),"timestamp":"[^"\\]*"'
    rb'(?:,"customType":"(?P<custom>[^"\\]*)")?'
)
_STAMP_START = b',"ash":{"s":"'


class RawLine(Struct, frozen=True):
    """`fault` says why it is no JSON object; `parsed` only where the line had to be parsed."""

    type: str
    id: bytes
    parent: bytes | None
    custom: bytes = b""
    mark: Mark | None = None
    parsed: JsonObject | None = None
    fault: str = ""


def read_line(line: bytes) -> RawLine:
    """Tell a line from its ends, else parse it. Never raises."""
    mark = read_mark(line)
    if mark is not None and (m := _BEGINNING.match(line)) is not None:
        return RawLine(m["type"].decode(), m["id"], m["parent"], m["custom"] or b"", mark)
    return parse_line(line, mark)


def parse_line(line: bytes, mark: Mark | None = None) -> RawLine:
    """The slow way, which also tells whether the line is JSON at all."""
    if not line.strip(b" \t\r\n"):
        return RawLine("", b"", None, fault="blank")
    try:
        value = loads_object(line)
    except JsonError as e:
        reason = "nothing but NUL bytes" if not line.strip(b"\0\r\n") else f"no JSON object: {e}"
        return RawLine("", b"", None, fault=reason)
    type_ = value.get("type")
    return RawLine(
        type=type_ if isinstance(type_, str) else "",
        id=_bytes(value.get("id")) or b"",
        parent=_bytes(value.get("parentId")),
        custom=_bytes(value.get("customType")) or b"",
        mark=mark,
        parsed=value,
    )


def named_in(line: bytes) -> tuple[str, ...]:
    """The entries that a stamped line's stamp names: its sources, its request."""
    stamp = line[line.rfind(_STAMP_START) + 1 :]
    if b'"src":' not in stamp and b'"req":' not in stamp:
        return ()
    try:
        value = loads_object(b"{" + stamp)["ash"]
    except (JsonError, KeyError):
        return ()
    if not isinstance(value, dict):
        return ()
    sources = value.get("src")
    named = [*(sources if isinstance(sources, list) else ()), value.get("req")]
    return tuple(word for word in named if isinstance(word, str))


def _bytes(value: object) -> bytes | None:
    return value.encode("utf-8", "replace") if isinstance(value, str) else None
