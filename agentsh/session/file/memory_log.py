"""The log of a session that is never saved (`--no-session`, tests): log.py's face over bytes.

It stands alone as one log of several.
"""

from __future__ import annotations


class MemoryLog:
    """Never fails, never durable beyond the process."""

    path = None

    def __init__(self, data: bytes = b"") -> None:
        self._data = bytearray(data)

    @property
    def size(self) -> int:
        return len(self._data)

    def read(self, start: int, end: int) -> bytes:
        return bytes(self._data[start:end])

    def commit(self, data: bytes, *, durable: bool) -> int:
        start = len(self._data)
        self._data += data
        return start

    def close(self) -> None:
        """Nothing to let go of."""
