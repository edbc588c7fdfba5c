"""The content of a file at one moment: bytes, their digest, lines as they are compared. Pure.

A line ends at LF; a CR before it, and the LF of the last line, make no other line of it: what a
person sees is who wrote the text.
"""

from __future__ import annotations

import hashlib
from functools import cached_property

from agentsh.agent.authors.calls import ABSENT


class Content:
    """Bytes of a file; `data` None: there was none."""

    def __init__(self, data: bytes | None) -> None:
        self.data = data

    @cached_property
    def digest(self) -> str:
        return ABSENT if self.data is None else hashlib.sha256(self.data).hexdigest()

    @cached_property
    def text(self) -> bytes:
        """The lines, each with one LF."""
        data = self.data or b""
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").removesuffix(b"\r")
        return data if data.endswith(b"\n") or not data else data + b"\n"

    def lines(self) -> list[bytes]:
        """Each without its ending."""
        return self.text.split(b"\n")[:-1]


NO_CONTENT = Content(None)
