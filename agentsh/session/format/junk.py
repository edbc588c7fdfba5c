"""A sound record with other bytes around it on its line: NULs of a power cut, what a disk left.

The record is taken, and the bytes stay. It reaches from the first brace of the line to the last,
and what stands around it holds nothing that JSON is built of: so no object inside a record that was
torn passes for a record of its own. Pure.
Read next: codec.py.
"""

from __future__ import annotations

from agentsh.jsontext import JsonError, JsonObject, loads_object

_SPACE = b" \t\r\n"
_BUILT_OF = frozenset(b'"[]{}:,')


def record_in(line: bytes) -> bytes:
    """What may be the record of a line, without what stands around it; nothing for none."""
    start, end = line.find(b"{"), line.rfind(b"}") + 1
    around = line[:start] + line[end:]
    return line[start:end] if 0 <= start < end and _BUILT_OF.isdisjoint(around) else b""


def has_junk(line: bytes) -> bool:
    """Whether something but white space stands around what may be a record."""
    text = line.strip(_SPACE)
    return text.find(b"{") > 0 or text.rfind(b"}") != len(text) - 1


def loads_record(line: bytes) -> JsonObject:
    """The object of a line. Raises JsonError."""
    try:
        return loads_object(line)
    except JsonError:
        if not has_junk(line):
            raise
        return loads_object(record_in(line))
