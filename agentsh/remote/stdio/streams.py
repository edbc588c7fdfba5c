"""The descriptors of a protocol, and the pipe that wakes whoever waits for them.

Descriptor 1 is taken at the start and given to nobody else: whatever prints later, a library, a
plugin, a child, lands on stderr. Descriptor 0 likewise, so that no child eats what was sent. A
reader that is slow makes whoever writes wait; once it is given up nothing is written any more, and
who waits goes on. Read next: framing.py, signals.py.
"""

from __future__ import annotations

import os
import select
import threading
from contextlib import suppress
from typing import Final, Self

_PIECE: Final = 1 << 16
_UNBLOCKED: Final = select.PIPE_BUF
"""So much can be written without a wait where a pipe is ready at all."""


class Alarm:
    """A pipe that wakes whoever polls it."""

    def __init__(self) -> None:
        self.reader, self._writer = os.pipe()
        os.set_blocking(self.reader, False)
        os.set_blocking(self._writer, False)

    @property
    def writer(self) -> int:
        return self._writer

    def ring(self) -> None:
        with suppress(BlockingIOError):  # it rings already
            os.write(self._writer, b"!")


class Streams:
    """The two ends of the protocol. Writing is whole records, from any thread."""

    def __init__(self, input_fd: int, output_fd: int) -> None:
        self._input = input_fd
        self._output = output_fd
        self._lock = threading.Lock()
        self._given_up = Alarm()
        self._is_given_up = False

    @classmethod
    def take(cls) -> Self:
        """Those of the process; from now on 0 is empty and 1 is stderr."""
        streams = cls(os.dup(0), os.dup(1))
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        return streams

    def read(self, alarm: Alarm) -> bytes | None:
        """What came, b"" at the end of the input; None: the alarm rang."""
        ready, _, _ = select.select([self._input, alarm.reader], [], [])
        if alarm.reader in ready:
            return None
        return os.read(self._input, _PIECE)

    def write(self, record: bytes) -> None:
        """Raises BrokenPipeError: nobody reads any more."""
        unwritten = memoryview(record)
        with self._lock:
            while unwritten and not self._is_given_up:
                _, ready, _ = select.select([self._given_up.reader], [self._output], [])
                with suppress(BlockingIOError):  # less room than was promised
                    if ready:
                        unwritten = unwritten[os.write(self._output, unwritten[:_UNBLOCKED]) :]

    def give_up(self) -> None:
        """Nobody is there any more to whom anything need be said."""
        self._is_given_up = True
        self._given_up.ring()
