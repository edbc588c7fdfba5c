"""Seals: a chain of digests through the lines that were made durable (docs/adr/0009).

A seal is the first 16 hex digits of SHA-256 over the 16 digits of the previous seal (nothing for
the first one) and every byte of the file from behind those digits to before its own. It stands last
in its line, so that only `"}}` and the LF follow, which the next seal covers. Whoever opens a file
at its tail goes on from the last seal without reading what is before it. What a line's end says is
linehead.py's.
"""

from __future__ import annotations

import hashlib

from agentsh.session.format.linehead import LineStamp

DIGITS = 16
_OPENING = b',"h":"'
_CLOSING = b'"}}\n'


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

    def check_line(self, line: bytes, mark: LineStamp) -> bool:
        """Feed a line that carries a seal; True if the seal is what it must be.

        The chain goes on from the digits that the file has, so one bad place is reported once.
        """
        self.feed(line[: mark.seal_end - DIGITS])
        good = self.seal() == mark.seal
        self._state = hashlib.sha256((mark.seal or "").encode())
        self.feed(line[mark.seal_end :])
        return good
