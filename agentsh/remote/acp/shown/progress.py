"""The output of calls that run, told while it grows: at most ten times a second, its end alone.

An update holds all that is shown of a call, so what is told is the tail that a person looks at. A
piece that comes too soon is told a moment later, by a thread of its own. It stands alone because of
that thread: what is told of a call after its end would take the end back. Read next: updates.py.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from msgspec import Struct

_APART: Final = 0.1
"""Seconds between two updates of a call."""
_MOST: Final = 16_000
"""Characters that are shown of a command that runs."""


class _Output(Struct):
    text: str = ""
    last: float = 0.0
    timer: threading.Timer | None = None


class Progress:
    """Of one session. `tell` is given a call's id and what to show of it."""

    def __init__(self, tell: Callable[[str, str], None]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._running: dict[str, _Output] = {}

    def begin(self, call: str) -> None:
        with self._lock:
            self._running[call] = _Output()

    def grow(self, call: str, piece: str) -> None:
        with self._lock:
            output = self._running.get(call)
            if output is None:
                return
            output.text = (output.text + piece)[-_MOST:]
            wait = output.last + _APART - time.monotonic()
            if wait <= 0:
                self._say(call, output)
            elif output.timer is None:
                output.timer = threading.Timer(wait, self._later, (call,))
                output.timer.daemon = True
                output.timer.start()

    def end(self, call: str) -> None:
        """Nothing is told of it any more."""
        with self._lock:
            output = self._running.pop(call, None)
            if output is not None and output.timer is not None:
                output.timer.cancel()

    def stop(self) -> None:
        """Nothing is told of any of them any more."""
        for call in [*self._running]:
            self.end(call)

    def _later(self, call: str) -> None:
        with self._lock:
            output = self._running.get(call)
            if output is not None:
                output.timer = None
                self._say(call, output)

    def _say(self, call: str, output: _Output) -> None:
        output.last = time.monotonic()
        self._tell(call, output.text)
