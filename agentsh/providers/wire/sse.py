"""Bytes → server-sent events, sans-IO (WHATWG "event stream", read leniently). Pure.

The theory. A stream is lines; a line ends with LF, CR or CRLF and with nothing else, so that the
other line ends that Unicode and Python know stay inside the text (E04). Lines are cut on bytes, and
only whole lines are ever decoded: a character that is split between two reads is never seen in
halves (E05), and the charset that a header names does not matter. A blank line ends an event.

Invariants: however the bytes are split, the events are the same; each byte is looked at a fixed
number of times, also when a long line comes in single bytes. What is not here: JSON, `[DONE]`,
connections. Read next: assemble.py.
"""

from __future__ import annotations

from msgspec import Struct

_BOM = b"\xef\xbb\xbf"
_LONG = 10
"""Digits of a wait that nobody means; int() refuses thousands of them."""


class SseEvent(Struct, frozen=True):
    """One event. `data` is the raw bytes of its data lines, joined by LF; UTF-8 by the standard."""

    data: bytes
    event: str = "message"
    id: str = ""

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")


class SseDecoder:
    """Feed it reads as they come; it gives the events that became whole."""

    def __init__(self) -> None:
        self.comments = 0
        """Comment lines so far (keep-alives): signs of life that are no events."""
        self.retry: int | None = None
        """The last `retry:` in milliseconds."""
        self._rest: list[bytes] = []  # pieces of the unfinished last line
        self._after_cr = False  # the last byte was CR: a LF that follows belongs to it
        self._at_start = True
        self._data: list[bytes] = []
        self._event = ""
        self._id = ""

    def feed(self, block: bytes) -> list[SseEvent]:
        """Take the next bytes; give the events that they complete, in order."""
        if self._at_start:
            block = self._without_bom(block)
        if self._after_cr and block:
            self._after_cr = False
            if block[0] == 0x0A:
                block = block[1:]
        if not block:
            return []
        if b"\r" in block:
            self._after_cr = block.endswith(b"\r")
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = block.split(b"\n")
        if len(lines) == 1:
            self._rest.append(block)
            return []
        if self._rest:
            self._rest.append(lines[0])
            lines[0] = b"".join(self._rest)
            self._rest.clear()
        if last := lines.pop():
            self._rest.append(last)
        return self._take(lines)

    def finish(self) -> SseEvent | None:
        """The end of the body: what an event without its blank line had, if anything.

        The standard drops it; servers that forget the last blank line are met more often than it
        is worth, so the caller gets it and judges whether its data are whole.
        """
        unfinished = b"".join(self._rest)
        self._rest.clear()
        events = self._take([unfinished, b""] if unfinished else [b""])
        return events[0] if events else None

    def _without_bom(self, block: bytes) -> bytes:
        head = b"".join(self._rest) + block
        self._rest.clear()
        if len(head) < len(_BOM) and _BOM.startswith(head):
            self._rest.append(head)
            return b""
        self._at_start = False
        return head.removeprefix(_BOM)

    def _take(self, lines: list[bytes]) -> list[SseEvent]:
        events: list[SseEvent] = []
        data = self._data
        for line in lines:
            if not line:
                if data:
                    whole = data[0] if len(data) == 1 else b"\n".join(data)
                    events.append(SseEvent(whole, self._event or "message", self._id))
                    data.clear()
                self._event = ""
            elif line.startswith(b"data:"):
                data.append(line[6:] if line[5:6] == b" " else line[5:])
            elif line[0] == 0x3A:
                self.comments += 1
            else:
                self._field(line)
        return events

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                self._data.append(value)
            case b"event":
                self._event = value.decode("utf-8", "replace")
            case b"id":
                if b"\0" not in value:
                    self._id = value.decode("utf-8", "replace")
            case b"retry":
                if value.isdigit() and len(value) < _LONG:
                    self.retry = int(value)
            case _:
                pass  # the standard: ignore fields one does not know
