"""The two ends of a stored line: one grammar for all who tell lines apart without decoding. Pure.

A line of ours, and nearly every line of Pi, begins with type, id, parentId and timestamp in this
order; then soon follow a message's role or the name of a custom entry. A line of ours ends with its
stamp, the seal last in it. So id, parent, number and seal cost no JSON parser. What the patterns
tell is what codec.py says of the line; a line that begins in another way (another order, spaces,
escapes, ids beyond ASCII) is not told by them but parsed. They judge nothing: a line may begin well
and be no JSON. Of a member that an object has twice they see the first one.
Read next: seal.py, session/file/scan.py, session/health/verify.py, session/store/summary.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from agentsh.jsontext import JsonError, JsonObject, JsonValue, loads_object

# ---- the beginning ---------------------------------------------------------------------------

_NAME = rb"[ !#-\[\]-~]+"
_HEAD = (
    rb'\{"type":"(?!session")(?P<type>\w+)","id":"(?P<id>' + _NAME + rb')","parentId":'
    rb'(?:null|"(?P<parent>' + _NAME + rb')"),"timestamp":"(?P<time>' + _NAME + rb')"'
    rb'(?:,"message":\{"role":"(?P<role>\w+)"|,"customType":"(?P<custom>' + _NAME + rb')")?'
)
_WHOLE_LINE = _HEAD + rb"[^\n]*\}\r?\n"


def match_head(line: bytes) -> re.Match[bytes] | None:
    """The groups type, id, parent, time and, where they come next, role and custom; no header's."""
    return _pattern(_HEAD).match(line)


def match_whole_line(data: bytes, position: int = 0) -> re.Match[bytes] | None:
    """The same of a line that ends as an object does, to behind its LF."""
    return _pattern(_WHOLE_LINE).match(data, position)


@cache
def _pattern(text: bytes) -> re.Pattern[bytes]:
    """Compiled when first needed: a session that begins needs none. Quicker than re's own cache."""
    return re.compile(text)


def beginnings(*types: str) -> tuple[bytes, ...]:
    """How lines of these types begin; in an order of members like Pi's, which puts type first."""
    return tuple(b'{"type":"%s",' % type_.encode() for type_ in types)


class Envelope(Struct, frozen=True):
    """What every entry has. A member that is missing or of another type is empty."""

    type: str
    id: str
    parent: str | None
    time: str
    role: str = ""
    custom: str = ""
    session: str = ""
    """The session that stamped the line."""


def envelope_of(value: JsonObject) -> Envelope:
    """The envelope of a line that was parsed."""
    parent, message, stamp = value.get("parentId"), value.get("message"), value.get("ash")
    return Envelope(
        _text(value.get("type")),
        _text(value.get("id")),
        parent if isinstance(parent, str) else None,
        _text(value.get("timestamp")),
        _text(message.get("role")) if isinstance(message, dict) else "",
        _text(value.get("customType")),
        _text(stamp.get("s")) if isinstance(stamp, dict) else "",
    )


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


_PARENT = rb'"parentId"\s*:\s*(null|"(?:[^"\\]|\\.)*")'


def parent_places(line: bytes) -> Iterator[tuple[int, int]]:
    """Where the parent may stand in a line: nested objects and texts may hold the same words."""
    return (match.span(1) for match in _pattern(_PARENT).finditer(line))


# ---- the end ---------------------------------------------------------------------------------

_STAMP_START = b',"ash":{"s":"'
_SEAL = rb',"h":"([0-9a-f]{16})"\}\}\r?\n?\Z'
# the stamp of an own line, up to the line's end: two braces close it, so it is the entry's own; and
# as a quote inside a JSON string is always escaped, no text that somebody said can look like one
_STRING = rb'"(?:[^"\\]|\\.)*"'
_STAMP = (
    rb',"ash":\{"s":"([^"\\]*)","n":(\d{1,15})'
    rb'(?:,"[a-z]+":(?:' + _STRING + rb"|\[(?:" + _STRING + rb",?)*\]|\d+))*\}\}\r?\n?\Z"
)


class LineStamp(Struct, frozen=True):
    """What the end of a stamped line says without parsing the line."""

    session: str
    line: int
    seal: str | None
    seal_end: int
    """Where the digits of the seal end in the line; 0 without one."""


def read_line_stamp(line: bytes) -> LineStamp | None:
    """The stamp of a line, from its end; None for a line without one."""
    start = line.rfind(_STAMP_START)
    if start < 0:
        return None
    match = _pattern(_STAMP).match(line, start)
    if match is None:
        return None
    end = _pattern(_SEAL).search(line, start)
    return LineStamp(
        session=match[1].decode("utf-8", "replace"),
        line=int(match[2]),
        seal=end[1].decode() if end else None,
        seal_end=end.end(1) if end else 0,
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


# ---- both, for verification ------------------------------------------------------------------


class RawLine(Struct, frozen=True):
    """`fault` says why it is no JSON object; `parsed` only where the line had to be parsed."""

    type: str
    id: bytes
    parent: bytes | None
    custom: bytes = b""
    mark: LineStamp | None = None
    parsed: JsonObject | None = None
    fault: str = ""


def read_line(line: bytes) -> RawLine:
    """Tell a line from its ends, else parse it. Never raises."""
    mark = read_line_stamp(line)
    if mark is not None and (head := match_head(line)) is not None:
        type_, id_, parent, custom = head.group("type", "id", "parent", "custom")
        return RawLine(type_.decode(), id_, parent, custom or b"", mark)
    return parse_line(line, mark)


def parse_line(line: bytes, mark: LineStamp | None = None) -> RawLine:
    """The slow way, which also tells whether the line is JSON at all."""
    if not line.strip(b" \t\r\n"):
        return RawLine("", b"", None, fault="blank")
    try:
        value = loads_object(line)
    except JsonError as e:
        reason = "nothing but NUL bytes" if not line.strip(b"\0\r\n") else f"no JSON object: {e}"
        return RawLine("", b"", None, fault=reason)
    said = envelope_of(value)
    parent = None if said.parent is None else _bytes(said.parent)
    return RawLine(said.type, _bytes(said.id), parent, _bytes(said.custom), mark, value)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


# ---- a line that is broken -------------------------------------------------------------------

_MEMBER = rb'"(type|id|parentId|timestamp)"\s*:\s*(?:null|"([^"\\]*)")'
_FIRST_MEMBERS = rb"\s*\{(?:\s*" + _MEMBER + rb"\s*,?)+"
_LAST_MEMBERS = rb"(?:,\s*" + _MEMBER + rb"\s*)+\}\s*$"


def salvaged_envelope(line: bytes) -> Envelope:
    """As much as the text of a line that is no JSON says at its beginning, else at its end."""
    members: JsonObject = {}
    for match in (
        _pattern(_FIRST_MEMBERS).match(line),
        _pattern(_LAST_MEMBERS).search(line[-400:]),
    ):
        for key, text in _pattern(_MEMBER).findall(match.group() if match else b""):
            members.setdefault(key.decode(), text.decode("utf-8", "replace") or None)
    return envelope_of(members)
