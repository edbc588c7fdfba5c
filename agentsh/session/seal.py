"""Seals: a chain of digests through the lines that were made durable (docs/adr/0009).

A seal is the first 16 hex digits of SHA-256 over the 16 digits of the previous seal (nothing for
the first one) and every byte of the file from behind those digits to before its own. It stands last
in its line, so that only `"}}` and the LF follow, which the next seal covers. Whoever opens a file
at its tail goes on from the last seal without reading what is before it.
"""

from __future__ import annotations

import hashlib
import re

from msgspec import Struct

DIGITS = 16
_OPENING = b',"h":"'
_CLOSING = b'"}}\n'
_END = re.compile(rb',"h":"([0-9a-f]{16})"\}\}\r?\n?\Z')
# the stamp of an own line, up to the line's end: two braces close it, so it is the entry's own; and
# as a quote inside a JSON string is always escaped, no text that somebody said can look like one
_STRING = rb'"(?:[^"\\]|\\.)*"'
_STAMP = re.compile(
    rb',"ash":\{"s":"([^"\\]*)","n":(\d{1,15})'
    rb'(?:,"[a-z]+":(?:' + _STRING + rb"|\[(?:" + _STRING + rb",?)*\]|\d+))*\}\}\r?\n?\Z"
)


class Mark(Struct, frozen=True):
    """What the end of a stamped line says without parsing the line."""

    session: str
    line: int
    seal: str | None
    seal_end: int
    """Where the digits of the seal end in the line; 0 without one."""


def read_mark(line: bytes) -> Mark | None:
    """The stamp of a line, from its end; None for a line without one."""
    start = line.rfind(b',"ash":{"s":"')
    if start < 0:
        return None
    found = _STAMP.match(line, start)
    if found is None:
        return None
    end = _END.search(line, start)
    return Mark(
        session=found[1].decode("utf-8", "replace"),
        line=int(found[2]),
        seal=end[1].decode() if end else None,
        seal_end=end.end(1) if end else 0,
    )


class SealChain:
    """The digest that runs since the last seal. `feed` it every byte of the file in order."""

    def __init__(self, previous: str = "") -> None:
        self._state = hashlib.sha256(previous.encode())

    def copy(self) -> SealChain:
        twin = SealChain()
        twin._state = self._state.copy()
        return twin

    def feed(self, data: bytes | memoryview) -> None:
        self._state.update(data)

    def seal(self) -> str:
        """The seal at this point. The chain goes on behind its digits."""
        digits = self._state.hexdigest()[:DIGITS]
        self._state = hashlib.sha256(digits.encode())
        return digits

    def seal_line(self, line: bytes) -> bytes:
        """The stamped line (with LF) with a seal in it; both are fed."""
        head = line[: -len(b"}}\n")] + _OPENING
        self.feed(head)
        digits = self.seal()
        self.feed(_CLOSING)
        return head + digits.encode() + _CLOSING

    def check_line(self, line: bytes, mark: Mark) -> bool:
        """Feed a line that carries a seal; True if the seal is what it must be.

        The chain goes on from the digits that the file has, so one bad place is reported once.
        """
        self.feed(line[: mark.seal_end - DIGITS])
        good = self.seal() == mark.seal
        self._state = hashlib.sha256((mark.seal or "").encode())
        self.feed(line[mark.seal_end :])
        return good
