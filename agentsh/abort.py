"""Abort: one user's wish to stop, seen by everything that waits.

Abort is no error (docs/adr/0007). Whoever blocks either polls `is_set`, waits with `wait`, or
registers a callback that ends its wait (shut the socket, kill the process group).
Thread-safe; a signal handler may call `set`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal, TypeAlias

AbortCause: TypeAlias = Literal["person", "max_time"]


class Abort:
    """Set once, stays set. One object a turn."""

    def __init__(self) -> None:
        self.cause: AbortCause = "person"
        """Who wished it, or what; of several, the first."""
        self._event = threading.Event()
        self._callbacks: list[Callable[[], None]] = []
        # re-entrant: a signal handler may set it while the main thread registers a callback
        self._lock = threading.RLock()

    @property
    def is_set(self) -> bool:
        return self._event.is_set()

    def set(self, cause: AbortCause = "person") -> None:
        """Ask all that runs under it to stop. A callback's OSError is passed over."""
        with self._lock:
            if not self._event.is_set():
                self.cause = cause
            self._event.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            with suppress(OSError):
                callback()

    def wait(self, seconds: float) -> bool:
        """Sleep for so long, or until set; True if set."""
        return self._event.wait(seconds)

    @contextmanager
    def calling(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call back once when set inside this block (at once if it is set already)."""
        with self._lock:
            already = self._event.is_set()
            if not already:
                self._callbacks.append(callback)
        if already:
            with suppress(OSError):
                callback()
        try:
            yield
        finally:
            with self._lock:
                if callback in self._callbacks:
                    self._callbacks.remove(callback)
